"""The page at ``/``, which shows the registry in a browser.

The page calls the control operations over ``/_sandbox``, as any program can. This package has the rows that
serve the page. The browser loads the modules in ``files/``, without a build step:

* ``files/page.js`` is the start: the address, the head and the current view.
* ``files/parts/`` has the shared modules. ``api.js`` calls an operation, ``address.js`` reads and writes the
  address bar, ``dom.js`` makes elements, ``interfaces.js`` writes the equivalent command and calls,
  ``action.js`` is a button with a form for an operation, and ``live.js`` follows streams.
* ``files/views/`` has one file for each view.

A view is one link and one file. The link in ``page.html`` gives the name, the title and the purpose. The file
``files/views/NAME.js`` exports one class::

    import { View } from "../parts/view.js";
    import { h } from "../parts/dom.js";

    export default class extends View {
      async show(address, isCurrent) {          // after a new address or an event
        const { worlds } = await this.ask("worlds.list");
        if (!isCurrent()) return;               // the address has changed again
        this.render(h("ul", worlds.map((world) => h("li", world.name))));
      }
    }

``this.ask`` calls an operation in the world and at the snapshot of the address.
"""
