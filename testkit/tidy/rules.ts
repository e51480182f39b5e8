// The architecture as rules. Each takes one parsed file and yields complaints that say where, what, and what to do instead.
import { posix } from "node:path";
import ts from "typescript";
import { at, type Complaint, isTest, isTestCode, type Rule } from "./complaint.ts";
import { elapsedBounds } from "./elapsed-bounds.ts";
import { handWrittenLoops } from "./hand-written-loops.ts";
import { listedNames } from "./listed-names.ts";
import { literalSleeps } from "./literal-sleeps.ts";
import { pageCommands } from "./page-commands.ts";
import { printedOutput } from "./printed-output.ts";
import { rawText } from "./raw-text.ts";
import { coreApart, coreFloors, type Room, rooms } from "./rooms.ts";
import { functionsOf, importsOf, type SourceFile } from "./source.ts";
import { testConnections } from "./test-connections.ts";

const { SyntaxKind } = ts;

const fileLinesMax = 400;
const functionLinesMax = 70;

const isGenerated = (path: string): boolean => path.startsWith("contracts/src/generated/");

/** Files that serve tests, measurements or the build: clocks and random numbers are theirs to use. */
const isTool = (path: string): boolean => isTest(path) || /^(testkit|bench|sim|scripts|bin|examples)\//.test(path);

export function roomOf(path: string): string {
  const [first] = path.split("/");
  // How tests are run is no part of the product.
  if (/^vitest\.(\w+\.)?config\.ts$/.test(path)) return "scripts";
  if (!path.includes("/") || first === undefined || first === "compose" || first === "supervisor") return "composition";
  return first;
}

function roomAndName(path: string): { name: string; room: Room } | undefined {
  const name = roomOf(path);
  const room = rooms[name];
  return room === undefined ? undefined : { name, room };
}

function* imports(file: SourceFile): Iterable<Complaint> {
  const home = roomAndName(file.path);
  if (home === undefined || isGenerated(file.path)) return;
  for (const { target, line } of importsOf(file)) {
    const why = forbidden(file.path, home, target);
    if (why !== undefined) yield { path: file.path, line, message: why };
  }
}

function forbidden(path: string, home: { name: string; room: Room }, target: string): string | undefined {
  const { name, room } = home;
  if (target.startsWith(".")) {
    const other = posix.normalize(posix.join(posix.dirname(path), target));
    const otherRoom = roomOf(other);
    const allowed = room.rooms.includes(otherRoom) || (isTest(path) && (otherRoom === "testkit" || name === otherRoom));
    if (!allowed && !isTest(path)) return `${name} must not import ${otherRoom} (${other}): ${room.instead}`;
    if (name === "core" && otherRoom === "core" && !isTest(path)) return insideCore(path, other);
    if (name === "services" && otherRoom === "services") return betweenServices(path, other);
    if (name === "edges" && otherRoom === "edges" && !isTest(path)) return betweenFaces(path, other);
    return undefined;
  }
  if (isTest(path)) return undefined;
  if (target.startsWith("node:")) return room.node ? undefined : `${name} must not import ${target}: ${room.instead}`;
  const packageName = target
    .split("/")
    .slice(0, target.startsWith("@") ? 2 : 1)
    .join("/");
  if (room.packages === "all" || room.packages.includes(packageName)) return undefined;
  if (name === "reports" && path.startsWith("reports/render/")) return undefined;
  return `${name} must not import the package ${packageName}: ${room.instead}`;
}

/** Rooms of the core stand above each other, so that what decides can be read from below. */
function insideCore(path: string, other: string): string | undefined {
  const [, from = ""] = path.split("/");
  const [, to = ""] = other.split("/");
  if (from === to) return undefined;
  const order = "the order is in testkit/tidy/rooms.ts";
  for (const room of [from, to]) {
    if (coreApart.includes(room)) return `core/${from} must not import core/${to}: core/${room} stands apart; ${order}`;
  }
  const floorOf = (room: string): number => coreFloors.findIndex((floor) => floor.includes(room));
  if (floorOf(from) < 0 || floorOf(to) < 0)
    return `core/${from} imports core/${to}, and one of them has no place: ${order}`;
  if (floorOf(to) < floorOf(from)) return undefined;
  return `core/${from} must not import core/${to}, which stands ${floorOf(to) > floorOf(from) ? "above" : "beside"} it: ${order}; hand the value in or move the noun to core/state`;
}

/** What services have in common; neither may know one of them. */
const sharedByServices: ReadonlySet<string> = new Set(["shared", "halts", "reference"]);

function betweenServices(path: string, other: string): string | undefined {
  const [, from = "", ...fromRest] = path.split("/");
  const [, to = "", ...toRest] = other.split("/");
  if (fromRest.length === 0 || toRest.length === 0 || from === to || sharedByServices.has(to)) return undefined;
  return `service ${from} must not import service ${to}: they meet on the bus or through a client port`;
}

/** What each face may take from beside itself; `ctl tui` opens the terminal desk, and the gateway hands out the web desks. */
const besideFaces: Readonly<Record<string, readonly string[]>> = {
  client: [],
  words: ["client"],
  web: ["client", "words"],
  tui: ["client", "words", "ctl"],
  ctl: ["client", "words", "tui"],
  gateway: ["client", "words", "web"],
};

function betweenFaces(path: string, other: string): string | undefined {
  const [, from = ""] = path.split("/");
  const [, to = ""] = other.split("/");
  if (from === to || besideFaces[from]?.includes(to) === true) return undefined;
  return `the face ${from} must not import the face ${to}: what two of them say alike stands in edges/words`;
}

/** JSON from outside is read in one way, because one runtime misreads escaped names. */
function* jsonInOneWay(file: SourceFile): Iterable<Complaint> {
  if (isTool(file.path) || !/\.tsx?$/.test(file.path) || file.path === "contracts/src/parse-json.ts") return;
  // The offline verifier shares no code; the other is a test's child process.
  if (/^(verifier|testkit\/embedded-postgres)\//.test(file.path)) return;
  const found: Complaint[] = [];
  for (const node of file.nodes.get(SyntaxKind.PropertyAccessExpression) ?? []) {
    if (node.getText(file.tree) === "JSON.parse") {
      found.push(at(file, node, "JSON.parse outside contracts/src/parse-json.ts: take parseJson"));
    }
  }
  yield* found;
}

const clockCalls: Readonly<Record<string, string>> = {
  "Date.now": "take an Instant or a Clock",
  "performance.now": "take a Clock, or a stopwatch that is handed in",
  "Math.random": "take a Random",
  "crypto.randomUUID": "take a Random",
  "process.hrtime": "take a Clock, or a stopwatch that is handed in",
};

function* clocksAndRandomness(file: SourceFile): Iterable<Complaint> {
  if (isTool(file.path) || /^adapters\/system\/[a-z]+\.ts$/.test(file.path)) return;
  // The offline verifier is a program of its own that shares no code: it has no adapters to take a clock from.
  if (file.path === "verifier/audit-verify.js") return;
  const found: Complaint[] = [];
  for (const node of file.nodes.get(SyntaxKind.PropertyAccessExpression) ?? []) {
    const name = node.getText(file.tree);
    const instead = clockCalls[name];
    if (instead !== undefined) found.push(at(file, node, `${name} outside adapters/system: ${instead}`));
  }
  for (const node of file.nodes.get(SyntaxKind.NewExpression) ?? []) {
    if (ts.isNewExpression(node) && node.expression.getText(file.tree) === "Date" && !node.arguments?.length) {
      found.push(at(file, node, "new Date() outside adapters/system/clock.ts: take an Instant or a Clock"));
    }
  }
  yield* found;
}

function* timersInPureRooms(file: SourceFile): Iterable<Complaint> {
  if (isTest(file.path) || isGenerated(file.path)) return;
  if (!/^(core|contracts|reports|services|ports)\//.test(file.path)) return;
  for (const node of file.nodes.get(SyntaxKind.CallExpression) ?? []) {
    const name = ts.isCallExpression(node) ? node.expression.getText(file.tree) : "";
    if (/^(setTimeout|setInterval|setImmediate|fetch)$/.test(name)) {
      yield at(file, node, `${name} in ${roomOf(file.path)}: take Timers or another port`);
    }
  }
  if (!/^(core|contracts|reports)\//.test(file.path)) return;
  for (const kind of [SyntaxKind.AwaitExpression, SyntaxKind.AsyncKeyword]) {
    for (const node of file.nodes.get(kind) ?? []) {
      yield at(file, node, `async in ${roomOf(file.path)}: it is pure; the shell awaits, the core is called with data`);
    }
  }
}

const textKinds = [SyntaxKind.StringLiteral, SyntaxKind.NoSubstitutionTemplateLiteral, SyntaxKind.TemplateHead];

function* literalSubjects(file: SourceFile): Iterable<Complaint> {
  if (isTest(file.path) || file.path.startsWith("testkit/tidy/") || isGenerated(file.path)) return;
  // An example is copied by somebody who has no contracts to import.
  if (file.path.startsWith("examples/")) return;
  if (file.path === "contracts/src/subjects.ts" || file.path.startsWith("contracts/src/events/")) return;
  if (!file.text.includes("svc.v1.")) return;
  for (const kind of textKinds) {
    for (const node of file.nodes.get(kind) ?? []) {
      const text = ts.isStringLiteralLike(node) || ts.isTemplateHead(node) ? node.text : "";
      if (/^svc\.v1\.($|[a-z*>])/.test(text)) {
        yield at(file, node, `a literal subject "${text}": declare its event in contracts/src/events and import it`);
      }
    }
  }
}

function* portsHaveNoBody(file: SourceFile): Iterable<Complaint> {
  if (!file.path.startsWith("ports/") || isTest(file.path)) return;
  for (const statement of file.tree.statements) {
    const fine =
      ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement) || ts.isImportDeclaration(statement);
    if (!fine) yield at(file, statement, "code with a body in ports: a port is interfaces and types only");
  }
}

function* size(file: SourceFile): Iterable<Complaint> {
  if (isGenerated(file.path)) return;
  const lines = file.text.split("\n").length - 1;
  if (lines > fileLinesMax && !isTest(file.path) && !file.text.includes("tidy: long because ")) {
    yield { path: file.path, line: 1, message: `${lines} lines, more than ${fileLinesMax}: split it by subject` };
  }
  if (isTest(file.path) || file.path.startsWith("testkit/conformance/")) return;
  for (const { name, lines: own, line, reason } of functionsOf(file)) {
    if (own > functionLinesMax && !reason) {
      yield {
        path: file.path,
        line,
        message: `${name} has ${own} lines of its own, more than ${functionLinesMax}: split it`,
      };
    }
  }
}

function* style(file: SourceFile): Iterable<Complaint> {
  if (isGenerated(file.path)) return;
  if (!/^(#!.*\n)?(\/\/|\/\*)/.test(file.text)) {
    yield { path: file.path, line: 1, message: "no opening comment: say in a sentence what this file is for and why" };
  }
  const name = posix.basename(file.path);
  if (!/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z]+)*\.(tsx?|js)$/.test(name)) {
    yield { path: file.path, line: 1, message: `${name} is not kebab-case` };
  }
}

/** Members of an object stand in it themselves, one a line: a spread of a literal only packs them. */
function* packedMembers(file: SourceFile): Iterable<Complaint> {
  if (!file.text.includes("...{")) return;
  for (const node of file.nodes.get(SyntaxKind.SpreadAssignment) ?? []) {
    if (ts.isSpreadAssignment(node) && ts.isObjectLiteralExpression(node.expression)) {
      yield at(file, node, "a literal is spread into a literal: write its members themselves");
    }
  }
}

/** Two ways to wait under one name were mixed up: one fails, the other says whether it came. */
function* oneWithin(file: SourceFile): Iterable<Complaint> {
  if (!isTestCode(file.path) || file.path === "testkit/platform.ts") return;
  for (const kind of [SyntaxKind.FunctionDeclaration, SyntaxKind.VariableDeclaration]) {
    for (const node of file.nodes.get(kind) ?? []) {
      const name =
        ts.isFunctionDeclaration(node) || ts.isVariableDeclaration(node) ? node.name?.getText(file.tree) : "";
      if (name === "within") {
        yield at(
          file,
          node,
          "another `within`: take the one of testkit/platform.ts, or say in the name what is different",
        );
      }
    }
  }
}

export const rules: readonly Rule[] = [
  imports,
  clocksAndRandomness,
  jsonInOneWay,
  timersInPureRooms,
  literalSubjects,
  portsHaveNoBody,
  size,
  style,
  packedMembers,
  oneWithin,
  handWrittenLoops,
  elapsedBounds,
  literalSleeps,
  testConnections,
  pageCommands,
  rawText,
  printedOutput,
  listedNames,
];

export function judge(file: SourceFile): readonly Complaint[] {
  return rules.flatMap((rule) => [...rule(file)]);
}
