-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- What pandoc does for scripts/manual.sh: a table becomes a list of tagged paragraphs, as manual pages have them, for
-- its last column is text that does not fit beside others; code is bold; a link is its text, or the manual page that is
-- made of what it leads to.

local pages = {
    ["formats.md"] = "characterize-files", ["formats.md#metadata"] = "characterize-trace",
    ["formats.md#the-table-files-characterize-table1"] = "characterize-table", ["model-format.md"] = "characterize-model",
    ["event-format.md"] = "characterize-events", ["sku-format.md"] = "characterize-sku",
    ["export-format.md"] = "characterize-export",
}

local function words(text)
    local list = pandoc.List()
    for word in text:gmatch("%S+") do
        list:insert(pandoc.Str(word))
        list:insert(pandoc.Space())
    end
    list:remove()
    return list
end

function Code(code)
    return pandoc.Strong(words(code.text))
end

function Link(link)
    local file = link.target:match("^([%w-]+%.md)")
    local text = pandoc.utils.stringify(link.content)
    local page = pages[link.target] or pages[file]
    if page then
        return { pandoc.Strong(page), pandoc.Str("(5)") }
    elseif text == file then
        return pandoc.Emph("doc/" .. file)
    elseif text == link.target:gsub("^%.%./", "") then
        return pandoc.Emph(text)
    elseif file then
        return link.content .. { pandoc.Space(), pandoc.Str("("), pandoc.Emph("doc/" .. file), pandoc.Str(")") }
    end
    return link.content
end

function CodeBlock(block)
    local text = block.text:gsub("\\", "\\e"):gsub("%-", "\\-"):gsub("'", "\\[aq]"):gsub("`", "\\[ga]")
        :gsub("%^", "\\[ha]"):gsub("~", "\\[ti]"):gsub("\n([.'])", "\n\\&%1"):gsub("^([.'])", "\\&%1")
    return pandoc.RawBlock("man", ".IP\n.EX\n" .. text .. "\n.EE")
end

local function inlines(cell)
    local list = pandoc.List()
    for _, block in ipairs(cell.contents) do
        list:extend(block.content)
    end
    return list
end

-- What is between the first column and the last stands before the text, with the heading unless that is a unit.
local function tagged(heads, row)
    local n = #row.cells
    local middle, text = pandoc.List(), n > 1 and inlines(row.cells[n]) or pandoc.List()
    for i = 2, n - 1 do
        local value, head = inlines(row.cells[i]), pandoc.utils.stringify(heads[i] or {})
        local plain = pandoc.utils.stringify(value)
        if plain ~= "" and plain ~= "-" then
            if head ~= "unit" and head ~= "" then
                middle:extend(words(head .. ":"))
                middle:insert(pandoc.Space())
            end
            middle:extend(value)
            middle:extend({ pandoc.Str(";"), pandoc.Space() })
        end
    end
    if #middle > 0 then
        middle:remove()
        middle:remove()
        local head = n > 2 and heads[n] and pandoc.utils.stringify(heads[n]) or ""
        if head == "meaning" or head == "why" or head == "" or head == "value" then
            middle:insert(pandoc.Str("."))
        else
            middle:insert(pandoc.Str(";"))
            middle:extend({ pandoc.Space() })
            middle:extend(words(head .. ":"))
        end
        middle:insert(pandoc.Space())
    end
    return { inlines(row.cells[1]), { pandoc.Blocks({ pandoc.Plain(middle .. text) }) } }
end

function Table(tab)
    local heads, items = {}, pandoc.List()
    for _, row in ipairs(tab.head.rows) do
        for i, cell in ipairs(row.cells) do
            heads[i] = inlines(cell)
        end
    end
    for _, body in ipairs(tab.bodies) do
        for _, row in ipairs(body.body) do
            items:insert(tagged(heads, row))
        end
    end
    return pandoc.DefinitionList(items)
end
