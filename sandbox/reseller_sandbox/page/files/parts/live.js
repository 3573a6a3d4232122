// What happens, as it happens: streams of resources, told in bundles, a few times a second.

import { request, root } from "./api.js";

const [AGAIN, BUNDLE] = [1000, 100];
const LONGEST = 2000;

// What anybody could see: thousands of requests a second are not held up by somebody who looks on.
const PER_SECOND = 100;

/**
 * Follow a stream, and call `tell` with the records that have come; return what ends that.
 *
 * It catches up after a break, from the last record on. While the page is hidden it does not listen: a
 * browser has few connections to a server, and other pages want theirs. `missed` is called with how many
 * records came too fast to be told, `state` with "live" or "lost".
 */
export function follow(operation, given, where, { tell, missed, state = () => {} }) {
  let source, timer, bundle;
  let mark = given.since;
  let left = 0;
  let waiting = [];
  let isOpen = true;

  const open = () => {
    close();
    if (document.hidden) return;
    const { path } = request(operation, { ...given, since: mark, per_second: PER_SECOND }, where);
    source = new EventSource(new URL(path, root));
    source.onopen = () => {
      left = 0; // by itself, too, it begins anew
      state("live");
    };
    source.onmessage = ({ data, lastEventId }) => {
      mark = lastEventId;
      waiting.push(data);
      bundle ??= setTimeout(() => requestAnimationFrame(flush), BUNDLE);
    };
    source.addEventListener("missed", ({ data }) => {
      const { missed: all } = JSON.parse(data);
      missed(all - left);
      left = all;
    });
    source.addEventListener("end", again);
    source.onerror = () => {
      state("lost");
      if (source?.readyState === EventSource.CLOSED) again();
    };
  };
  const flush = () => {
    bundle = undefined;
    const come = waiting;
    waiting = [];
    if (isOpen) tell(come.map((data) => JSON.parse(data)));
  };
  const again = () => {
    close();
    state("lost");
    timer = setTimeout(open, AGAIN);
  };
  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = undefined;
  };

  document.addEventListener("visibilitychange", open);
  open();
  return () => {
    isOpen = false;
    close();
    clearTimeout(bundle);
    document.removeEventListener("visibilitychange", open);
  };
}

/**
 * Return `act` so that it is carried out at most once in so many milliseconds, and never twice at once; with
 * `share`, after a pause so many times as long as it took, so that it takes little of the server's time.
 */
export function seldom(act, pause = 300, share = 0) {
  let timer, busy, wanted;
  const run = async () => {
    [busy, wanted] = [true, false];
    const began = performance.now();
    try {
      await act();
    } finally {
      timer = setTimeout(() => {
        busy = false;
        if (wanted) run();
      }, Math.max(pause, Math.min(share * (performance.now() - began), LONGEST)));
    }
  };
  const call = () => {
    wanted = true;
    if (!busy) run();
  };
  call.stop = () => clearTimeout(timer);
  return call;
}
