// No operation without a handle: everything that the API offers has a verb, or a reason why it has none.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const folder = join(import.meta.dirname, "..");
const openApi = JSON.parse(readFileSync(join(folder, "../client/openapi.json"), "utf8")) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId?: string }>>>>;
};
const offered = Object.values(openApi.paths).flatMap((methods) =>
  Object.values(methods).flatMap(({ operationId }) => (operationId === undefined ? [] : [operationId])),
);

const without: Readonly<Record<string, string>> = {
  getMetrics: "for a collector of metrics; `ctl doctor` says what they mean",
  tailEvents: "for programs and the terminal desk; `ctl operations audit tail` follows what changed",
  listHalts: "the public form of the list; `ctl riskengine halts list` has the same halts and how far each has come",
  getOpenApi: "the description itself, for whoever makes a client",
  getAsyncApi: "the description of events and streams, for whoever makes a client",
  getReference: "the reference for people, for a browser",
  getReferenceStyle: "the style of that page",
  appendAudit: "for services that record what they did; a person's doing records itself",
  reportRegulatoryEvent:
    "for machines whose order management is elsewhere; `ctl operations filings records` shows what came of it",
  inspectAudit: "answers in one piece; `ctl operations audit fsck` begins an inspection and follows it",
  getAuditCheckpoint: "for witnesses and mirrors, in their own format; `ctl operations audit status` shows it",
  getAuditTile: "for witnesses and mirrors, in their own format",
  tailAudit: "the stream; `ctl operations audit tail --follow` reads pages, which survive a restart",
  makeReport:
    "for programs; `ctl report nav` and its like make the same here, and `ctl report list` shows the platform's",
  getReportDocument: "comes as bytes, by the client's reportDocument: `ctl report show --output`",
  verifyAudit: "answers in one piece; `ctl operations audit verify` begins a verification and follows it",
};

const sources = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
  .map((name) => readFileSync(join(folder, name), "utf8"))
  .join("\n");
const isCalled = (operation: string): boolean =>
  new RegExp(`\\)?\\.${operation}\\(`).test(sources.replaceAll(/\)\n\s*\./g, ")."));

it("every operation of the API has a verb that calls it, or a line that says why not", () => {
  expect(offered.length).toBeGreaterThan(60);
  expect(offered.filter((operation) => !isCalled(operation) && without[operation] === undefined)).toEqual([]);
});

it("no line stands for an operation that is gone or has a verb", () => {
  expect(Object.keys(without).filter((operation) => !offered.includes(operation))).toEqual([]);
  expect(Object.keys(without).filter(isCalled)).toEqual([]);
});
