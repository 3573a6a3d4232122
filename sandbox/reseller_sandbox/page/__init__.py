"""The page at ``/``: the registry to look at in a browser, and to travel in.

It does nothing that a resource does not, and calls the resources over ``/_sandbox`` as any program does.
Here are the rows that serve it; what a browser loads is in ``files/``, plain modules without a build step:

* ``files/page.js`` begins: the address, the head, the view that is shown.
* ``files/parts/`` is what views are made of: ``api.js`` calls a resource, ``address.js`` is what the address
  bar says, ``dom.js`` makes elements (of text alone), ``interfaces.js`` tells the command and the calls that
  do the same, ``action.js`` is a button that carries an operation out, with a form from its declaration, and
  ``live.js`` follows what happens.
* ``files/views/`` has a file for each view.

A view is one file and one row. The row, in ``page.html``, gives its name, its title and what it is for; the
file, ``files/views/NAME.js``, exports one class::

    import { View } from "../parts/view.js";
    import { h } from "../parts/dom.js";

    export default class extends View {
      async show(address, isCurrent) {          // the address has changed, or something has happened
        const { worlds } = await this.ask("worlds.list");
        if (!isCurrent()) return;               // meanwhile it has changed again
        this.render(h("ul", worlds.map((world) => h("li", world.name))));
      }
    }

``this.ask`` acts in the world, and looks at the moment, that the address names.
"""
