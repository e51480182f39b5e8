// What is wrong with a declaration stops the generator with a sentence that names the place: planted bugs in copies of the protos.
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "..");
const buf = join(root, "node_modules/.bin/buf");
const service = "contracts/proto/svc/v1/haltdesk.proto";

let folder = "";
let operationFiles: (bytes: Uint8Array) => Readonly<Record<string, string>>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "portcullis-declarations-"));
  cpSync(join(root, "buf.yaml"), join(folder, "buf.yaml"));
  cpSync(join(root, "contracts/proto"), join(folder, "contracts/proto"), { recursive: true });
  ({ operationFiles } = await import(pathToFileURL(join(root, "scripts/gen-operations.js")).href));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What is generated from the protos with one piece of text replaced by another. */
function generated(from = "", to = ""): Readonly<Record<string, string>> {
  const text = readFileSync(join(root, service), "utf8");
  if (!text.includes(from)) throw new Error(`the proto has no ${from} to plant a mistake in`);
  writeFileSync(
    join(folder, service),
    text.replace(from, () => to),
  );
  const image = join(folder, "image.binpb");
  execFileSync(buf, ["build", "--as-file-descriptor-set", "--path", service, "-o", image], {
    cwd: folder,
    stdio: "pipe",
  });
  return operationFiles(readFileSync(image));
}

describe("24.1: a declaration", () => {
  it("that is whole is a row, a route and its shapes", () => {
    const files = generated();
    expect(files["authority.ts"]).toContain('RunDrill: {"sentence":"Trip a halt of the drill scope');
    expect(files["routes.ts"]).toContain('"method":"POST","path":"/v1/drills"');
    expect(files["shapes.ts"]).toContain("RunDrillRequest: {");
  });

  it.each([
    ["without roles", "roles: [OPERATOR]\n", "\n", "HaltDesk.FlattenPaper has no roles"],
    ["with a role twice", "roles: [OPERATOR]\n", "roles: [OPERATOR, OPERATOR]\n", "names a role twice"],
    ["that neither reads nor changes", "changes: true\n", "\n", "must say one of `reads` and `changes`"],
    ["that says both", "changes: true\n", "changes: true reads: true\n", "must say one of `reads` and `changes`"],
    [
      "without a sentence",
      "  // See what drills measured.\n  // Newest first.\n",
      "",
      "HaltDesk.ListDrills has no comment",
    ],
    [
      "whose row is another one's",
      "roles: [OPERATOR]\n",
      'roles: [OPERATOR] name: "RunDrill"\n',
      "says something else of RunDrill",
    ],
    [
      "whose route is taken",
      'get: "/v1/drills"',
      'get: "/v1/flatten"',
      "operator GET /v1/flatten is another route's already",
    ],
    [
      "whose path names no field",
      'get: "/v1/flatten"',
      'get: "/v1/flatten/:fund"',
      "GetFlattenRequest has no such field",
    ],
    ["that tells what is not there", 'answer: "drills"', 'answer: "drill"', "Drills has no such field"],
    [
      "with a bound that its field cannot have",
      "min: 1 max: 1000",
      "min_length: 1",
      "ListDrillsRequest.count_max says minLength",
    ],
    [
      "with a pattern and no words",
      "kind = ID];\n  // The word",
      'pattern = "^a$"];\n  // The word',
      "does not say what was expected",
    ],
  ])("%s is refused in a sentence", (_name, from, to, sentence) => {
    expect(() => generated(from, to)).toThrow(sentence);
  });

  it("with a list, a map or free data has it among what both doors count, with its bound or without one", () => {
    const planted =
      'import "google/protobuf/struct.proto";\nmessage RunDrillRequest {\n  repeated string rows = 9;\n  map<string, string> by = 10 [(portcullis.v1.field).max_count = 7];\n' +
      "  google.protobuf.Struct data = 11 [(portcullis.v1.field) = { max_count: 5 max_length: 80 }];";
    const [line = ""] =
      (generated("message RunDrillRequest {", planted)["bounds.ts"] ?? "").match(/ {2}RunDrillRequest: .*/) ?? [];
    expect(line).toContain('{"number":9,"name":"rows","form":"list"}');
    expect(line).toContain('{"number":10,"name":"by","form":"map","most":7}');
    expect(line).toContain('{"number":11,"name":"data","form":"free","most":5,"characters":80}');
  });

  it("with one more field has it in the row, the route and the shape at once", () => {
    const files = generated(
      "message RunDrillRequest {",
      "message RunDrillRequest {\n  // How loud.\n  string volume = 9 [(portcullis.v1.field).kind = DECIMAL];",
    );
    expect(files["shapes.ts"]).toContain('{"name":"volume","type":"text","description":"How loud.","kind":"DECIMAL"}');
  });
});
