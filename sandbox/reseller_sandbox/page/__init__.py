"""The page at ``/``, which shows the registry in a browser.

The page calls the control operations over ``/_sandbox``, as any program can. This package has the
endpoints that serve the page. The browser loads the modules in ``files/``, without a build step:

* ``files/page.js`` is the start: the address, the head and the current view.
* ``files/vendor/`` has Preact and htm, unchanged, with their licences. Text never becomes markup.
* ``files/parts/`` has the shared modules. ``api.js`` calls an operation, ``address.js`` reads and writes the
  address bar, ``action.js`` is a button with a form for an operation, ``pieces.js`` has the shared elements,
  ``live.js`` shares one stream among all tabs, and ``limits.js`` has every limit.
* ``files/views/`` has one file for each view.

A view is one link and one file. The link in ``page.html`` gives the name, the title and the purpose. The file
``files/views/NAME.js`` exports one class::

    import { html } from "../parts/html.js";
    import { View } from "../parts/view.js";

    export default class extends View {
      load() {                                  // after a new address or an event
        return this.ask("worlds.list");
      }

      draw({ worlds }) {                        // not for data of an older address
        return html`<ul>${worlds.map(({ name }) => html`<li key=${name}>${name}</li>`)}</ul>`;
      }
    }

``this.ask`` calls an operation in the world and at the snapshot of the address.
"""
