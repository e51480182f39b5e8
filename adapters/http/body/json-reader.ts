// How a body becomes a value: what the library's reader would lose in silence is refused, whatever the route.
import type { FastifyInstance, FastifyRequest } from "fastify";
import { mayBeMisread, parseJson } from "../../../contracts/src/parse-json.ts";
import { refuseLossyJson, strictText } from "./strict-json.ts";

type Done = (error: Error | null, value?: unknown) => void;

export type JsonReader = (request: FastifyRequest, body: Buffer, done: Done) => void;

/** Throws, or calls back with an error, what a problem document is made of. */
export function strictJsonReader(app: FastifyInstance): JsonReader {
  const parse = app.getDefaultJsonParser("error", "error");
  return (request, body, done) => {
    const text = strictText(body);
    let refused: Error | null = null;
    let value: unknown;
    const read = (content: string): void => {
      // It calls back before it returns, and takes whatever is thrown in there for malformed JSON.
      void parse(request, content, (error, parsed) => {
        [refused, value] = [error, parsed];
      });
    };
    read(text);
    if (refused === null && mayBeMisread(text)) {
      const careful = parseJson(text.replace(/^\ufeff/, ""));
      // The names that the library forbids are judged once more, as they are.
      read(JSON.stringify(careful));
      value = careful;
    }
    if (refused === null) refuseLossyJson(text);
    done(refused, value);
  };
}
