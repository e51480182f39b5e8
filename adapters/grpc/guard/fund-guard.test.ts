// The guard of funds through real sockets: every procedure that says `fund` or `every_fund`, for a token that names one, by what it asks about and by what it is
// answered. The numbers are those of the guard's header.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { operations, whoseOf } from "../../../contracts/src/authority.ts";
import { Defect } from "../../../contracts/src/fault.ts";
import { namedByProcedures } from "../../../contracts/src/generated/authority.ts";
import { isFundPath } from "../../../contracts/src/ownership/whose.ts";
import type { RefusedAttempt } from "../../../ports/attempts.ts";
import type { Identity } from "../../../ports/identity.ts";
import type { RpcService } from "../../../ports/rpc.ts";
import { type CallOutcome, type TestClient, testClient } from "../../../testkit/grpc/test-client.ts";
import { everyRole, testVerifier } from "../../../testkit/grpc/test-verifier.ts";
import { testPorts } from "../../../testkit/http/test-ports.ts";
import { operationRows } from "../../../testkit/ownership/matrix.ts";
import { emptyMessage, namingMessage } from "../../../testkit/ownership/naming-message.ts";
import { codecOf, describedServices } from "../definitions.ts";
import { operationOf } from "../procedure-operations.ts";
import { type GrpcServer, serveGrpc } from "../server.ts";
import { fundGuard } from "./fund-guard.ts";

const procedures = describedServices
  .filter(({ name }) => name !== "Instance")
  .flatMap(({ name: service, methods }) =>
    methods.map((method) => {
      const operation = operationOf(service, method.name);
      const named = namedByProcedures[`${service}/${method.name}`] ?? { request: [], answer: [] };
      const [asked, answered] = [named.request.filter(isFundPath), named.answer.filter(isFundPath)];
      return { service, method, operation, asked, answered, ...operations[operation] };
    }),
  );
const guarded = procedures.filter(
  ({ operation, allowed }) => whoseOf(operation).includes("fund") && (allowed as readonly string[]).includes("service"),
);
const ofEveryFund = procedures.filter(({ operation }) => whoseOf(operation).includes("every_fund"));
/** The service says whose it is, by what the test puts in place of an order or a strategy. */
const asksService = guarded.filter(
  ({ asked, answered, reads }) => asked.length === 0 && (!reads || answered.length === 0),
);

/** What handlers were asked, and what they answer next. */
const reached: string[] = [];
let answer: unknown;
let belongsTo: readonly string[] | "every" | undefined;
const refusals: RefusedAttempt[] = [];
const clients: TestClient[] = [];
let server: GrpcServer;

beforeAll(async () => {
  const test = testPorts();
  const known = testVerifier();
  const services = describedServices
    .filter(({ name }) => name !== "Instance")
    .map(({ name, methods }): RpcService => {
      const handler = (method: string) => async () => {
        reached.push(`${name}/${method}`);
        return answer;
      };
      const own = asksService.filter(({ service }) => service === name);
      return {
        name,
        handlers: Object.fromEntries(methods.map((method) => [method.name, handler(method.name)])),
        fundsOf: Object.fromEntries(own.map(({ method }) => [method.name, async () => belongsTo])),
      };
    });
  server = await serveGrpc({
    ...test.ports,
    address: { host: "127.0.0.1", port: 0 },
    purpose: "the test's gRPC server",
    environmentVariable: "NONE",
    services,
    tellRefusal: (refused) => refusals.push(refused),
    verifier: {
      ...known,
      async verify(token): Promise<Identity> {
        const identity = await known.verify(everyRole);
        return token === "of-harbor" ? { ...identity, kind: "service", funds: ["harbor", "pier"] } : identity;
      },
    },
    health: () => ({ status: "ok" }),
    metricsJson: async () => "[]",
  });
});

afterAll(async () => {
  for (const client of clients) client.close();
  await server.drain(0);
});

function clientOf(token: string): TestClient {
  const client = testClient(server.address, { token });
  clients.push(client);
  return client;
}

interface Asked {
  readonly code: unknown;
  readonly answer: unknown;
  readonly wasReached: boolean;
}

let harbor: TestClient;
let anywhere: TestClient;
beforeAll(() => {
  harbor = clientOf("of-harbor");
  anywhere = clientOf("of-every-fund");
});

async function ask(procedure: (typeof procedures)[number], message: object, as = harbor): Promise<Asked> {
  const { service, method } = procedure;
  reached.length = 0;
  answer ??= emptyMessage(method.responseType);
  const outcome = method.requestStream
    ? await streamOne(as, procedure, message)
    : await as.call(service, method.name, message);
  answer = undefined;
  return {
    code: outcome.status === "OK" ? "" : outcome.metadata.get("portcullis-code")[0],
    answer: outcome.answer,
    wasReached: reached.length > 0,
  };
}

/** One request over a stream, and its answer or the status that ended it. */
function streamOne(
  { client, metadataOf }: TestClient,
  { method }: (typeof procedures)[number],
  message: object,
): Promise<Pick<CallOutcome, "status" | "answer" | "metadata">> {
  const same = (raw: Buffer): Buffer => raw;
  return new Promise((resolve) => {
    const stream = client.makeBidiStreamRequest(method.path, same, same, metadataOf({}));
    let come: unknown;
    stream.on("data", (bytes: Buffer) => {
      come = codecOf(method.responseType).decode(bytes);
      stream.end();
    });
    stream.on("error", () => undefined);
    stream.on("status", ({ code, metadata }) =>
      resolve({ status: code === 0 ? "OK" : "failed", answer: come, metadata }),
    );
    stream.write(Buffer.from(codecOf(method.requestType).encode(message).finish()));
  });
}

/** What docs/authority.md says that a token of harbor is answered about another fund. */
function cellOf({ operation }: (typeof procedures)[number]): string | undefined {
  return operationRows().find(({ name }) => name === operation)?.anotherFunds;
}

const nameOf = ({ service, method }: (typeof procedures)[number]): string => `${service}/${method.name}`;

describe("1: a request", () => {
  it.each(guarded.filter(({ asked }) => asked.length > 0).map((one) => [nameOf(one), one] as const))(
    "%s reaches its handler about the token's own funds alone",
    async (_name, procedure) => {
      const { asked, method } = procedure;
      for (const path of asked) {
        const about = (fund: string) => namingMessage(method.requestType, path, fund);
        for (const own of ["harbor", "pier"]) {
          expect(await ask(procedure, about(own))).toMatchObject({ code: "", wasReached: true });
        }
        expect(await ask(procedure, about("alpha"))).toMatchObject({ code: cellOf(procedure), wasReached: false });
        expect(await ask(procedure, about("alpha"), anywhere)).toMatchObject({ code: "", wasReached: true });
      }
      const nowhere = emptyMessage(method.requestType);
      expect(await ask(procedure, nowhere)).toMatchObject({ code: "FUND_NOT_YOURS", wasReached: false });
    },
  );

  it.each(ofEveryFund.map((one) => [nameOf(one), one] as const))(
    "%s takes a token of every fund",
    async (_name, one) => {
      const nothing = emptyMessage(one.method.requestType);
      expect(await ask(one, nothing)).toMatchObject({ code: cellOf(one), wasReached: false });
      expect(await ask(one, nothing, anywhere)).toMatchObject({ code: "", wasReached: true });
    },
  );

  it("that is refused is told, with what it was about", async () => {
    refusals.length = 0;
    const procedure = guarded.find((one) => nameOf(one) === "RiskEngine/GetEnvelope");
    if (procedure === undefined) throw new Error("GetEnvelope is guarded by its fund");
    await ask(procedure, { fund_id: "alpha" });
    expect(refusals).toEqual([
      expect.objectContaining({ operation: "GetEnvelope", about: "alpha", code: "FUND_NOT_YOURS" }),
    ]);
  });
});

describe("2: something of a fund", () => {
  it.each(asksService.map((one) => [nameOf(one), one] as const))("%s is looked up first", async (_name, procedure) => {
    const nothing = emptyMessage(procedure.method.requestType);
    for (const [owner, code] of [
      [["harbor"], ""],
      [["alpha"], cellOf(procedure)],
      [["harbor", "alpha"], "FUND_NOT_YOURS"],
      ["every", "FUND_NOT_YOURS"],
      [undefined, ""],
    ] as const) {
      belongsTo = owner;
      expect(await ask(procedure, nothing), JSON.stringify(owner)).toMatchObject({ code, wasReached: code === "" });
    }
  });
});

describe("3: an answer", () => {
  it.each(guarded.filter(({ answered }) => answered.length > 0).map((one) => [nameOf(one), one] as const))(
    "%s has nothing of other funds",
    async (_name, procedure) => {
      const { method, asked, answered } = procedure;
      belongsTo = undefined;
      const [path] = asked;
      const request =
        path === undefined ? emptyMessage(method.requestType) : namingMessage(method.requestType, path, "harbor");
      for (const place of answered) {
        const naming = (fund: string) => namingMessage(method.responseType, place, fund);
        answer = naming("harbor");
        expect(JSON.stringify((await ask(procedure, request)).answer), place).toContain('"harbor"');
        answer = naming("alpha");
        const theirs = await ask(procedure, request);
        expect(JSON.stringify(theirs.answer ?? ""), place).not.toContain("alpha");
        // What an answer of its own says of another fund on the side is left out, and is no cell.
        const isOnTheSide = place.includes("original") || place.startsWith("would_change");
        if (asked.length === 0 && procedure.reads && !isOnTheSide) {
          expect(theirs.code === "" ? "left out" : theirs.code, place).toBe(cellOf(procedure));
        }
        answer = { encoded: codecOf(method.responseType).encode(naming("alpha")).finish() };
        expect(JSON.stringify((await ask(procedure, request)).answer ?? ""), place).not.toContain("alpha");
        answer = naming("alpha");
        expect(JSON.stringify((await ask(procedure, request, anywhere)).answer), place).toContain("alpha");
      }
    },
  );
});

it("4: nothing is served of which nobody could tell whose it is", () => {
  for (const { service, method } of asksService) {
    const response = codecOf(method.responseType);
    const served = { service, method, response, isServed: true };
    expect(() => fundGuard(served), method.name).toThrow(Defect);
    expect(() => fundGuard({ ...served, fundsOf: async () => undefined })).not.toThrow();
  }
  expect(asksService.length).toBeGreaterThan(5);
});
