import { Action } from "../parts/action.js";
import { beside, go, onward, read } from "../parts/address.js";
import { ask } from "../parts/api.js";
import { COMPARED } from "../parts/limits.js";
import { notice, report } from "../parts/notices.js";
import { Difference, Filter, html, Part, Table, Time } from "../parts/pieces.js";
import { save } from "../parts/save.js";
import { View } from "../parts/view.js";
import { plural } from "../parts/words.js";

export default class extends View {
  async load({ from, to }) {
    this.watch();
    const [{ worlds, limit }, difference] = await Promise.all([ask("worlds.list"),
      from && to && ask("history.diff", { from: "now", to: `world:${to}`, limit: COMPARED }, { world: from })]);
    return { worlds, limit, difference };
  }

  draw({ worlds, limit, difference }, address) {
    const names = worlds.map(({ name }) => name);
    return html`<div class="bar"><h1>Worlds</h1><span class="quiet">${worlds.length} of at most ${limit}</span>
        <${Action} label="Fork this world" operation="worlds.fork" asks=${["name", "point", "now", "frozen", "seed"]} leads=${inside} />
        <${Action} label="New from a fixture" operation="worlds.fork" asks=${["fixture", "name", "now", "frozen", "assume"]} args=${{ fixture: "default" }} leads=${inside} />
        <label class="drop" onDragOver=${(event) => event.preventDefault()} onDrop=${drop}>Drop a fixture or a recording here, or choose one:
          ${" "}<input type="file" accept=".yaml,.yml,.json,.recording" onChange=${({ target }) => open(target.files[0]).then(() => (target.value = ""))} /></label></div>
      <${Table} label="Worlds" heads=${["World", "Now", "Requests", "Orders", "Seed", "Actions"]}>${worlds.map((world) => this.#row(world, address))}<//>
      <${Part} title="Compare">
        <p class="line"><label>One world <${Filter} of="from" label="One world" none="–" words=${names} /></label>
          <label>and another <${Filter} of="to" label="and another" none="–" words=${names} /></label></p>
        ${difference && html`<${Difference} of=${difference} />`}<//>`;
  }

  #row(world, address) {
    const isHere = world.name === (address.world || "default");
    const where = { world: world.name === "default" ? "" : world.name };
    return html`<tr key=${world.name} data-row=${world.name} tabindex="-1" aria-current=${isHere ? "true" : null}>
      <td><a href=${beside(where, "worlds")}>${world.name}</a>${isHere && html`<small>shown here</small>`}</td>
      <td><${Time} at=${world.now} /><small>${world.frozen ? "frozen" : "running"}</small></td>
      <td class="num" data-label="requests">${world.requests}</td><td class="num" data-label="orders">${world.orders}</td><td class="code" data-label="seed">${world.seed}</td>
      <td class="acts"><a class="do" href=${beside(where, "journal")}>Journal</a>
        <${Action} label="Save" title="Save the world as a fixture" operation="history.export" where=${where}
          then=${({ fixture }) => save(`${world.name}.yaml`, fixture)} says=${() => `Saved ${world.name}.yaml.`} />
        <${Action} label="Recording" title="Save the world with its history" operation="recording.get" where=${where}
          then=${({ base64 }) => save(`${world.name}.recording`, unpacked(base64))}
          says=${({ requests, notes }) => [`Saved ${world.name}.recording, with ${plural(requests, "request")}.`, ...notes].join(" ")} />
        ${world.name !== "default" && html`<${Action} label="Drop" operation="worlds.remove" args=${{ world: world.name }} tone="danger"
          then=${() => (read().world === world.name ? go({ view: "worlds" }) : this.update(true))} />`}</td></tr>`;
  }
}

const inside = ({ name }) => ({ view: "worlds", world: name === "default" ? "" : name });

function drop(event) {
  event.preventDefault();
  open(event.dataTransfer.files[0]);
}

async function open(file) {
  if (!file) return;
  const lead = onward();
  try {
    const content = new Uint8Array(await file.arrayBuffer());
    const made = await (isPacked(content) ? ask("worlds.open", { recording: await packed(file) })
      : ask("worlds.fork", { state: new TextDecoder().decode(content) }));
    notice(`${file.name} is open: world ${made.name}.`, made.difference && `The replay differs: ${made.difference}.`);
    lead(made.requests ? { view: "journal", world: made.name } : inside(made));
  } catch (problem) {
    report(problem);
  }
}

// A recording begins with the gzip signature. A fixture is text, so it cannot.
const isPacked = (bytes) => bytes[0] === 0x1f && bytes[1] === 0x8b;

const packed = (file) => new Promise((done, failed) => {
  const reader = new FileReader();
  Object.assign(reader, { onload: () => done(String(reader.result).split(",")[1]), onerror: () => failed(reader.error) });
  reader.readAsDataURL(file);
});

const unpacked = (base64) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
