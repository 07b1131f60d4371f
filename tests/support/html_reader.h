/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Fails the test unless a page is well-formed and stands alone: tags that match, ids that are unique and that
 * references find, no scripts but those in the page itself, nothing fetched from elsewhere, no control characters. */
void html_must_be_well_formed(const char *page);
