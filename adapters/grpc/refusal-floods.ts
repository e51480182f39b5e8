// Connections on which nothing but refused calls comes. One that was refused so often in a row, without a single call in between by
// a caller who may, is asked to calm down and closed: a caller in earnest connects again with a better token.
import { constants, type ServerHttp2Session } from "node:http2";
import { Fault } from "../../contracts/src/fault.ts";
import type { Timers } from "../../ports/timers.ts";

interface RefusalFloods {
  refused(connection: ServerHttp2Session | undefined, thrown: unknown): void;
  passed(connection: ServerHttp2Session | undefined): void;
}

/** How long calls that are still open may take to end after the goodbye. */
const goodbyeMs = 1_000;

export function refusalFloods(timers: Timers, refusalsInARowMax: number): RefusalFloods {
  const counts = new WeakMap<ServerHttp2Session, number>();
  return {
    refused: (connection, thrown) => {
      if (connection === undefined || !isCallersFault(thrown)) return;
      const count = (counts.get(connection) ?? 0) + 1;
      counts.set(connection, count);
      // A turn later: this may run while Node is still reading frames of this very connection.
      if (count === refusalsInARowMax) timers.after(0, () => end(connection, timers));
    },
    passed: (connection) => {
      if (connection !== undefined) counts.delete(connection);
    },
  };
}

/** That we could not find out who somebody is says nothing about them. */
function isCallersFault(thrown: unknown): boolean {
  return thrown instanceof Fault && (thrown.code === "UNAUTHENTICATED" || thrown.code === "PERMISSION_DENIED");
}

function end(connection: ServerHttp2Session, timers: Timers): void {
  if (connection.destroyed) return;
  const cancel = timers.after(goodbyeMs, () => connection.destroy());
  connection.once("close", cancel);
  connection.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  connection.close();
}
