"""One report as a page of its own: an HTML file that needs no network and no server."""
