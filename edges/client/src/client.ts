// The client of the operator API: `createClient({ baseUrl, token })` gives an object with one method per operation, `pages` over lists and `events`. It
// runs in browsers and in Node on nothing but `fetch`, and never follows a redirect: the token is for the server that was named.
import type { CallOptions } from "./call-options.ts";
import { type Connection, type ConnectionOptions, connectionOf, perform, type TokenSource } from "./connection.ts";
import { type EventsAsked, type EventsOptions, followEvents } from "./events.ts";
import { operationTable } from "./generated/operations.ts";
import { nextPath } from "./link.ts";
import { type Arguments, type OperationPlace, requestShape } from "./operation.ts";
import type { Client, ReportDocumentAsked } from "./types.ts";

export interface ClientOptions extends ConnectionOptions {
  readonly token?: TokenSource | undefined;
}

export function createClient(options: ClientOptions): Client {
  const connection = connectionOf(options, options.token);
  const table: Readonly<Record<string, OperationPlace>> = operationTable;
  const made = {
    ...methodsOf(table, connection),
    pages: (id: string, given: Arguments = {}, call: CallOptions = {}) => pagesOf(table, id, given, call, connection),
    reportDocument: ({ reportId, format }: ReportDocumentAsked, call: CallOptions = {}) =>
      documentOf(reportId, format, call, connection),
    events: (asked: EventsAsked = {}, call: EventsOptions = {}) => followEvents(asked, call, connection),
  };
  // The table and the types are generated from one document, so each method is what its type says.
  return made as unknown as Client;
}

export function methodsOf(
  table: Readonly<Record<string, OperationPlace>>,
  connection: Connection,
): Readonly<Record<string, (given?: Arguments, call?: CallOptions) => Promise<unknown>>> {
  const methods = Object.entries(table).map(([id, place]) => [
    id,
    async (given: Arguments = {}, call: CallOptions = {}) => {
      const { value, headers } = await perform(askedOf(id, place, given, call), call, connection);
      call.onHeaders?.(headers);
      return value;
    },
  ]);
  return Object.fromEntries(methods);
}

async function documentOf(reportId: string, format: string | undefined, call: CallOptions, connection: Connection) {
  const query = format === undefined ? "" : `?format=${encodeURIComponent(format)}`;
  const path = `/v1/reports/${encodeURIComponent(reportId)}/document${query}`;
  const shape = { method: "GET", path, body: undefined };
  const { value, headers } = await perform(
    { id: "getReportDocument", shape, answer: "bytes", takesKey: false },
    call,
    connection,
  );
  call.onHeaders?.(headers);
  return value;
}

function askedOf(id: string, place: OperationPlace, given: Arguments, { body }: CallOptions = {}) {
  const shape = requestShape(id, place, given);
  return {
    id,
    shape: body === undefined ? shape : { ...shape, body },
    answer: place.answer,
    takesKey: place.takesKey === true,
  };
}

/** Page after page, each fetched when the one before was taken; the server names the next one in its Link header. */
export async function* pagesOf(
  table: Readonly<Record<string, OperationPlace>>,
  id: string,
  given: Arguments,
  call: CallOptions,
  connection: Connection,
): AsyncGenerator<unknown> {
  const place = table[id];
  if (place === undefined || place.method !== "GET")
    throw new TypeError(`"${id}" is no list that can be read page by page`);
  let asked = askedOf(id, place, given);
  for (;;) {
    const { value, headers } = await perform(asked, call, connection);
    call.onHeaders?.(headers);
    yield value;
    const path = nextPath(headers.get("link"));
    if (path === undefined) return;
    if (path === asked.shape.path) throw new Error(`the server names ${id}'s page as the next of itself`);
    asked = { ...asked, shape: { method: "GET", path, body: undefined } };
  }
}
