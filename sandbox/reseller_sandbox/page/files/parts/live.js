// Live events: streams of resources, delivered in batches a few times a second.

import { request, root } from "./api.js";

const [AGAIN, BUNDLE] = [1000, 100];
const LONGEST = 2000;

// Limit the updates to a readable rate, so that the page does not slow down thousands of requests a second.
const PER_SECOND = 100;

/**
 * Follow a stream and call `receive` with the new records. Return a function that ends it.
 *
 * After a break it continues from the last record. While the page is hidden it does not listen, because a
 * browser has few connections to a server and other pages need them. `missed` is called with the number of
 * records that came too fast, `state` with "live" or "lost".
 */
export function follow(operation, args, where, { receive, missed, state = () => {} }) {
  let source, timer, bundle;
  let mark = args.since;
  let reported = 0;
  let waiting = [];
  let isOpen = true;

  const open = () => {
    close();
    if (document.hidden) return;
    const { path } = request(operation, { ...args, since: mark, per_second: PER_SECOND }, where);
    source = new EventSource(new URL(path, root));
    source.onopen = () => {
      reported = 0; // it also restarts automatically
      state("live");
    };
    source.onmessage = ({ data, lastEventId }) => {
      mark = lastEventId;
      waiting.push(data);
      bundle ??= setTimeout(() => requestAnimationFrame(flush), BUNDLE);
    };
    source.addEventListener("missed", ({ data }) => {
      const { missed: all } = JSON.parse(data);
      missed(all - reported);
      reported = all;
    });
    source.addEventListener("end", again);
    source.onerror = () => {
      state("lost");
      if (source?.readyState === EventSource.CLOSED) again();
    };
  };
  const flush = () => {
    bundle = undefined;
    const batch = waiting;
    waiting = [];
    if (isOpen) receive(batch.map((data) => JSON.parse(data)));
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
 * Return `act` limited to one call per so many milliseconds, and never concurrent. With `share`, the pause is
 * so many times as long as the call took, so that it uses little of the server's time.
 */
export function throttle(act, pause = 300, share = 0) {
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
