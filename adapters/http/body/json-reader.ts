// How a body becomes a value: what holds more than its route takes is refused before anything is made of it, and what the library's reader would lose in
// silence is refused whatever the route. A large body is read in slices, so that nobody else waits for the whole of it.
import type { FastifyInstance, FastifyRequest } from "fastify";
import { atOnce } from "../../../contracts/src/bounds/at-once.ts";
import { mayBeMisread, readingByTokens } from "../../../contracts/src/parse-json.ts";
import type { Timers } from "../../../ports/timers.ts";
import { inSlices } from "../../system/in-slices.ts";
import { factsOf } from "../route-facts.ts";
import { refuseBeyond } from "./refuse-beyond.ts";
import { refusingLossyJson, strictText } from "./strict-json.ts";

type Done = (error: Error | null, value?: unknown) => void;

export type JsonReader = (request: FastifyRequest, body: Buffer, done: Done) => void;

interface Read {
  readonly refused: Error | null;
  readonly value: unknown;
}

/** Any smaller one is read at once. */
const slicedBytesMin = 65_536;

/** Throws, or calls back with an error, what a problem document is made of. */
export function strictJsonReader(app: FastifyInstance, timers: Pick<Timers, "soon">): JsonReader {
  const parse = app.getDefaultJsonParser("error", "error");
  return (request, body, done) => {
    // A route without a schema for its body has refused one long before this.
    refuseBeyond(body, factsOf(request)?.body ?? {});
    const reading = readingOf(strictText(body), (text) => {
      let read: Read = { refused: null, value: undefined };
      // It calls back before it returns, and takes whatever is thrown in there for malformed JSON.
      void parse(request, text, (refused, value) => {
        read = { refused, value };
      });
      return read;
    });
    if (body.length >= slicedBytesMin) {
      void inSlices(reading, timers).then(
        ({ refused, value }) => done(refused, value),
        (thrown: unknown) => done(thrown as Error),
      );
      return;
    }
    const { refused, value } = atOnce(reading);
    done(refused, value);
  };
}

function* readingOf(text: string, parse: (text: string) => Read): Generator<void, Read> {
  let read = parse(text);
  if (read.refused !== null) return read;
  yield;
  if (mayBeMisread(text)) {
    const careful = yield* readingByTokens(text.replace(/^\ufeff/, ""));
    yield;
    // The names that the library forbids are judged once more, as they are.
    const judged = parse(JSON.stringify(careful));
    read = { refused: judged.refused, value: careful };
    if (read.refused !== null) return read;
    yield;
  }
  yield* refusingLossyJson(text);
  return read;
}
