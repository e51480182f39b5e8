// What `npm run compat` promises: a break of each kind is named with its place, and what may change within v1 is no break.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, it } from "vitest";

interface Compat {
  breaksAgainst(released: string, tree: string): readonly string[];
  documentBreaks(released: string, tree: string): readonly string[];
}

const root = join(import.meta.dirname, "..");
const { breaksAgainst, documentBreaks }: Compat = await import(pathToFileURL(join(root, "scripts", "compat.js")).href);
const released = join(root, "contracts", "released", "0.1.0");
const present = {
  operator: "edges/client/openapi.json",
  public: "edges/client/openapi.public.json",
  events: "contracts/asyncapi.json",
  audit: "contracts/schemas/audit-entry.schema.json",
  halt: "contracts/schemas/halt.schema.json",
} as const;

// biome-ignore lint/suspicious/noExplicitAny: documents are changed at any place.
type Document = any;

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A tree that says what the release said, with one change. */
function tree(
  change: { readonly [Name in keyof typeof present]?: (document: Document) => void },
  proto = (text: string) => text,
): string {
  const folder = mkdtempSync(join(tmpdir(), "portcullis-compat-"));
  folders.push(folder);
  const names = {
    operator: "openapi.json",
    public: "openapi.public.json",
    events: "asyncapi.json",
    audit: "audit-entry.schema.json",
    halt: "halt.schema.json",
  };
  for (const [name, path] of Object.entries(present) as [keyof typeof present, string][]) {
    const document: Document = JSON.parse(readFileSync(join(released, names[name]), "utf8"));
    change[name]?.(document);
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), JSON.stringify(document));
  }
  cpSync(join(root, "contracts", "proto"), join(folder, "contracts", "proto"), { recursive: true });
  cpSync(join(root, "buf.yaml"), join(folder, "buf.yaml"));
  const halt = join(folder, "contracts", "proto", "svc", "v1", "halt.proto");
  writeFileSync(halt, proto(readFileSync(halt, "utf8")));
  return folder;
}

const breaks = (...given: Parameters<typeof tree>): readonly string[] => breaksAgainst(released, tree(...given));

describe("npm run compat", { timeout: 120_000 }, () => {
  it("finds nothing where nothing changed, and nothing in what was only added", () => {
    const added = breaks({
      operator: (document) => {
        document.paths["/v1/new"] = { get: { operationId: "getNew", responses: {} } };
        document.components.schemas.Position.properties.colour = { type: "string" };
        document.components.schemas.Position.required.push("colour");
        document.components.schemas.Order.properties.colour = { type: "string" };
        document.paths["/v1/oms/orders"].get.parameters.push({
          in: "query",
          name: "colour",
          schema: { type: "string" },
        });
      },
      events: (document) => {
        document.channels["svc.v1.new"] = { address: "svc.v1.new", messages: {} };
        document.channels["svc.v1.risk.halt.requested"].messages.event.payload.properties.colour = { type: "string" };
      },
    });
    expect(added).toEqual([]);
  });

  const halts = (document: Document): Document => document.components.schemas.HaltRequest;
  const requested = (document: Document): Document =>
    document.channels["svc.v1.risk.halt.requested"].messages.event.payload;
  it.each<[string, Parameters<typeof tree>[0], RegExp]>([
    [
      "a field that is gone",
      { operator: (document) => delete halts(document).properties.reason },
      /openapi\.json: GET \/v1\/halts: answer 200\[\]\.reason: the field is gone/,
    ],
    [
      "a field that may be missing",
      { operator: (document) => halts(document).required.shift() },
      /openapi\.json: .*the field may be missing now/,
    ],
    [
      "another type",
      { public: (document) => (document.components.schemas.Quote.properties.bid = { type: "number" }) },
      /openapi\.public\.json: GET \/v1\/quotes\/\{symbol\}: answer 200\.bid: the type changed from string to number/,
    ],
    [
      "a route that is gone",
      { operator: (document) => delete document.paths["/v1/oms/positions"] },
      /openapi\.json: GET \/v1\/oms\/positions: the route is gone/,
    ],
    [
      "a value of an enum that is gone",
      { operator: (document) => document.components.schemas.Order.properties.tif.enum.pop() },
      /openapi\.json: POST \/v1\/oms\/orders: body\.tif: the value "GTD" is gone/,
    ],
    [
      "a value more in a closed enum",
      { halt: (document) => document.properties.severity.enum.push("DESK_HALT") },
      /halt\.schema\.json: severity: "DESK_HALT" was added to a closed enum/,
    ],
    [
      "a required field of a request",
      { operator: (document) => document.components.schemas.Order.required.push("venue") },
      /POST \/v1\/oms\/orders: body\.venue: the field is required now/,
    ],
    [
      "a tighter bound",
      { operator: (document) => (document.components.schemas.Order.properties.thesis.maxLength = 1) },
      /body\.thesis: maxLength was tightened from 4096 to 1/,
    ],
    [
      "a parameter that is gone",
      { operator: (document) => document.paths["/v1/oms/positions"].get.parameters.pop() },
      /GET \/v1\/oms\/positions: query fund_id: the parameter is gone/,
    ],
    [
      "a role that may not any more",
      { operator: (document) => document.paths["/v1/halts"].get["x-allowed"].shift() },
      /GET \/v1\/halts: the role \w+ may not any more/,
    ],
    [
      "another name of the operation",
      { operator: (document) => (document.paths["/v1/halts"].get.operationId = "halts") },
      /its name changed from listHalts to halts/,
    ],
    [
      "a required field of a subject",
      {
        events: (document) => {
          requested(document).properties.desk = { type: "string" };
          requested(document).required.push("desk");
        },
      },
      /asyncapi\.json: svc\.v1\.risk\.halt\.requested event\.desk: a required field was added/,
    ],
    [
      "a subject that is gone",
      { events: (document) => delete document.channels["svc.v1.risk.halt.requested"] },
      /asyncapi\.json: svc\.v1\.risk\.halt\.requested: the channel is gone/,
    ],
    [
      "a field of an audit entry that is gone",
      { audit: (document) => delete document.properties.prev_hash },
      /audit-entry\.schema\.json: prev_hash: the field is gone/,
    ],
  ])("names %s", (_kind, change, line) => {
    const found = documentBreaks(released, tree(change));
    expect(found).toContainEqual(expect.stringMatching(line));
    // What is planted once is used in many places at most, and nothing else is named.
    expect(new Set(found.map((one) => one.replace(/^.*: /, ""))).size).toBe(1);
  });

  it("names a proto number that is used for something else", () => {
    const found = breaks({}, (text) => text.replace(/string fund_id = (\d+)/, "int64 fund_number = $1"));
    expect(found).toContainEqual(expect.stringMatching(/protos: .*halt\.proto:\d+: .*Field "\d+"/));
  });
});
