// `ctl auth requests list`: what one admin asked for and another one has to sign.
import type { AnswerOf } from "../../client/src/types.ts";
import { commandOf } from "../operators/cosign.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const authRequestsList: Verb = {
  name: "auth requests list",
  heading: "People",
  sentence: "List the changes of people and machines' tokens that wait for a second admin.",
  arguments: [],
  options: listOptions,
  examples: [{ command: "ctl auth requests list", sentence: "What is there to sign, and how." }],
  operation: "ListIdentityRequests",
  changesState: false,
  run,
};

type Request = AnswerOf<"listIdentityRequests">[number];

async function run(context: Context): Promise<Answer> {
  const rows = await (await context.client()).listIdentityRequests();
  const columns: readonly Column<Request>[] = [
    { name: "request_id", key: true, id: true, of: (request) => request.request_id },
    { name: "operation", always: true, of: (request) => request.operation },
    { name: "target", always: true, of: (request) => request.target },
    { name: "parameters", text: true, of: (request) => JSON.stringify(request.parameters) },
    { name: "by", of: (request) => request.requested_by },
    { name: "reason", text: true, of: (request) => request.reason },
    { name: "until", of: (request) => request.expires_at, time: true },
  ];
  const [first] = rows;
  const how = first === undefined ? [] : [`Sign with ${commandOf(first.operation)} --cosign REQUEST_ID --totp CODE`];
  const listed = await listing(context, { columns, rows, none: "Nothing waits." });
  return { ...listed, next: how };
}
