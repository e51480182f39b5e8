// The log tells everything except secrets: redaction by name at any depth and inside texts, errors in full, bounded lines.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Fault } from "../../contracts/src/fault.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { LogFields } from "../../ports/log.ts";
import { inputCount } from "../../testkit/full-count.ts";
import { processorMs } from "../../testkit/processor-ms.ts";
import { createLog, fileDescriptorDestination, type LogOptions, lineCharsMax } from "./pino-log.ts";

const clock = { now: () => 1_763_200_000_123_456 as Instant };

function collecting(options: Partial<LogOptions> = {}) {
  const lines: string[] = [];
  const log = createLog({
    level: "debug",
    pretty: false,
    clock,
    destination: { write: (line) => void lines.push(line) },
    ...options,
  });
  return { log, lines, only: () => JSON.parse(lines[0] ?? "null") as Record<string, unknown> };
}

function written(fields: LogFields): string {
  const { log, lines } = collecting();
  log.info("hello", fields);
  expect(lines).toHaveLength(1);
  JSON.parse(lines[0] ?? "");
  return lines[0] ?? "";
}

const planted = "s3cr3t-Pl4nted";

describe("lines", () => {
  it("is one line of JSON with level, time to the microsecond, message and fields", () => {
    const { log, lines, only } = collecting();
    log.with({ service: "oms", request_id: "r1" }).warn("Late\nfill", { fund_id: "alpha", request_id: "r2" });
    expect(lines[0]?.endsWith("\n")).toBe(true);
    expect(lines[0]?.trimEnd()).not.toContain("\n");
    expect(only()).toEqual({
      level: "warn",
      time: "2025-11-15T09:46:40.123456Z",
      service: "oms",
      request_id: "r2",
      fund_id: "alpha",
      message: "Late\nfill",
    });
  });

  it("speaks only from its level on, and not at all when silent", () => {
    const { log, lines } = collecting({ level: "warn" });
    log.debug("a");
    log.info("b");
    log.warn("c");
    log.error("d");
    expect(lines).toHaveLength(2);
    const silent = collecting({ level: "silent" });
    silent.log.error("d");
    expect(silent.lines).toHaveLength(0);
  });

  it("does not let a field overwrite level, time or message", () => {
    const { log, only, lines } = collecting();
    log.info("real", { level: "x", time: "y", message: "z" });
    expect(only()).toMatchObject({ level: "info", message: "real", level_: "x", time_: "y", message_: "z" });
    expect(lines[0]?.match(/"message":/g)).toHaveLength(1);
  });

  it("leaves percent signs in a message alone", () => {
    const { log, only } = collecting();
    log.info("100 %d of %s %%");
    expect(only()["message"]).toBe("100 %d of %s %%");
  });

  it("writes what JSON has no word for", () => {
    const circle: Record<string, unknown> = { a: 1 };
    circle["self"] = circle;
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const trap = Object.defineProperty({}, "boom", {
      enumerable: true,
      get: () => {
        throw new Error("no");
      },
    });
    const { log, only } = collecting();
    log.info("odd", {
      big: 12n,
      nan: Number.NaN,
      bytes: new Uint8Array(32),
      when: new Date(0),
      never: new Date(Number.NaN),
      map: new Map([["k", new Set([1])]]),
      symbol: Symbol("s"),
      nothing: undefined,
      none: null,
      run: () => 1,
      circle,
      proxy,
      trap,
    });
    expect(only()).toMatchObject({
      big: "12",
      nan: "NaN",
      bytes: "[32 bytes]",
      when: "1970-01-01T00:00:00.000Z",
      never: "[invalid date]",
      map: { k: [1] },
      symbol: "Symbol(s)",
      none: null,
      run: "[function]",
      circle: { a: 1, self: "[circular]" },
      proxy: "[unreadable]",
      trap: { boom: "[unreadable]" },
    });
    expect(only()).not.toHaveProperty("nothing");
  });

  it("bounds a line whatever it is given", () => {
    const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`field${index}`, "x".repeat(500)]));
    let deep: unknown = "bottom";
    for (let level = 0; level < 10_000; level += 1) deep = [deep];
    for (const fields of [{ text: "é\u0000".repeat(1_000_000) }, wide, { list: Array(100_000).fill(wide) }, { deep }]) {
      const line = written(fields);
      expect(line.length).toBeLessThanOrEqual(lineCharsMax);
    }
    const { log, lines } = collecting();
    log.info("\u0001".repeat(100_000), wide);
    expect(lines[0]?.length).toBeLessThanOrEqual(lineCharsMax);
    expect(written({ note: "kept", huge: "x".repeat(50_000), list: Array(90).fill("y".repeat(900)) })).toContain(
      "kept",
    );
  });
});

describe("redaction", () => {
  const names = [
    ...[
      "password",
      "secret",
      "token",
      "authorization",
      "passphrase",
      "totp_secret",
      "cookie",
      "api_key",
      "private_key",
    ],
    ...[
      "recovery_codes",
      "client_secret",
      "code_verifier",
      "Set-Cookie",
      "X-Api-Key",
      "apiKey",
      "PGPASSWORD",
      "passwd",
    ],
    ...[
      "Proxy-Authorization",
      "access_token",
      "refreshToken",
      "VAULT_TOKEN",
      "otp",
      "totp",
      "jwt",
      "signing_key",
      "pwd",
    ],
    ...["credentials", "session_id", "service-token", "APIKEY", "webhook.secret"],
  ];

  it.each(names)("masks %s at any depth, in any letter case", (name) => {
    for (const spelt of [name, name.toUpperCase(), name.toLowerCase()]) {
      const places: LogFields[] = [
        { [spelt]: planted },
        { [spelt]: [planted, { x: planted }] },
        { [spelt]: { deeper: planted } },
        { a: { b: [{ [spelt]: planted }] } },
        { map: new Map([[spelt, planted]]) },
        {
          headers: [
            ["accept", "x"],
            [spelt, planted],
          ],
        },
        { error: Object.assign(new Error("x"), { [spelt]: planted }) },
        { error: new Error("x", { cause: Object.assign(new Error("y"), { config: { [spelt]: planted } }) }) },
        { error: new AggregateError([Object.assign(new Error("y"), { [spelt]: planted })], "many") },
      ];
      for (const fields of places) expect(written(fields)).not.toContain(planted);
    }
  });

  it("masks numbers, but says whether a secret was there", () => {
    const { log, only } = collecting();
    log.info("x", { totp: 123456, password: null, has_token: true, secret: "" });
    expect(only()).toMatchObject({ totp: "[redacted]", password: null, has_token: true, secret: "[redacted]" });
  });

  it("masks bound fields and fields with a getter named like them", () => {
    const { log, lines } = collecting();
    log.with({ db: { password: planted } }).info("x");
    expect(lines.join()).not.toContain(planted);
  });

  it.each([
    `postgres://user:${planted}@db.example:5432/portcullis`,
    `postgresql://user:a/b@c${planted}@db/portcullis`,
    `nats://${planted}@bus.example:4222`,
    `nats://u:${planted}@a:4222,nats://u:${planted}@b:4222`,
    `https://user:${planted}@vault.example/v1`,
    `connect to postgres://u:${planted}@h/db failed (postgres://u:${planted}@h2/db)`,
    `Authorization: Bearer ${planted}`,
    `authorization=Basic ${planted}`,
    `GET /cb?code=1&access_token=${planted}&state=2`,
    `host=db password=${planted} user=x`,
    `host=db password='${planted} and more' user=x`,
    `body was {"user":"duty","password":"${planted}"}`,
    `twice encoded "{\\"client_secret\\":\\"${planted}\\"}"`,
    `-----BEGIN RSA PRIVATE KEY-----\n${planted}\n-----END RSA PRIVATE KEY-----`,
    `cut off -----BEGIN PRIVATE KEY-----\n${planted}`,
  ])("masks a credential inside a text: %s", (text) => {
    for (const fields of [{ url: text }, { error: new Error(text) }, { list: [[text]] }]) {
      const line = written(fields);
      expect(line).not.toContain(planted);
      expect(line).toContain("[redacted]");
    }
    const { log, lines } = collecting();
    log.error(text);
    expect(lines[0]).not.toContain(planted);
    const pretty = collecting({ pretty: true });
    pretty.log.error(text, { url: text, error: new Error(text, { cause: new Error(text) }) });
    expect(pretty.lines[0]).not.toContain(planted);
  });

  it("masks a URL object and keeps what is no secret readable", () => {
    expect(written({ at: new URL(`https://u:${planted}@h/x`) })).not.toContain(planted);
    const line = written({ idempotency_key: "k1", public_key: "p1", author: "a1", url: "http://h:80/a@b", code: "X" });
    for (const kept of ["k1", "p1", "a1", "http://h:80/a@b", '"X"']) expect(line).toContain(kept);
    expect(written({ url: "postgres://u:p@db:5432/name" })).toContain("@db:5432/name");
  });

  it("does not leak a secret that stands across the place where a text is cut", () => {
    for (let before = 3_900; before < 4_010; before += 7) {
      expect(written({ text: `${"x".repeat(before)} postgres://u:${planted}@h/db` })).not.toContain("s3cr3t");
    }
  });

  it("stays quick on hostile texts", () => {
    const texts = [
      "a".repeat(60_000),
      "://".repeat(20_000),
      "a=".repeat(30_000),
      '"a":"'.repeat(10_000),
      "@:/".repeat(20_000),
    ];
    texts.push(
      `postgres://${"@".repeat(60_000)}`,
      "-----BEGIN PRIVATE KEY-----".repeat(2_000),
      "bearer ".repeat(9_000),
    );
    texts.push("postgres://".repeat(5_000), "nats://a ".repeat(5_000), "'a':\\".repeat(10_000), "\\".repeat(60_000));
    const writeAll = () => texts.map((text) => written({ text }));
    expect(processorMs(writeAll)).toBeLessThan(5_000);
  });

  it("never shows a planted secret, whatever shape it hides in", () => {
    const seed = 20_261_115;
    const leafName = fc.constantFrom(...names);
    const shape = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5 },
        leafName.map((name) => ({ [name]: planted })),
        fc.array(tie("tree"), { maxLength: 3 }),
        fc.dictionary(fc.string({ maxLength: 8 }), tie("tree"), { maxKeys: 3 }),
        tie("tree").map((inner) => new Error("outer", { cause: inner })),
        tie("tree").map((inner) => Object.assign(new Error("x"), { facts: inner })),
      ),
    })).tree;
    fc.assert(
      fc.property(shape, (tree) => {
        expect(written({ tree })).not.toContain(planted);
      }),
      { seed, numRuns: inputCount(300) },
    );
  });
});

describe("errors", () => {
  it("keeps code, retry, facts, stack and the chain of causes", () => {
    const cause = Object.assign(new Error("connection refused"), { code: "ECONNREFUSED" });
    const fault = new Fault("STORE_UNREACHABLE" as never, "no store", { retry: "later", facts: { tries: 3 }, cause });
    const { log, only } = collecting();
    log.error("x", { error: fault, err: cause });
    expect(only()["error"]).toMatchObject({
      name: "Fault",
      message: "no store",
      code: "STORE_UNREACHABLE",
      retry: "later",
      facts: { tries: 3 },
      cause: { message: "connection refused", code: "ECONNREFUSED" },
    });
    expect((only()["error"] as { stack: string }).stack).toContain("pino-log.test.ts");
    expect(only()["err"]).toMatchObject({ name: "Error", code: "ECONNREFUSED" });
  });

  it("survives a cause that leads back to itself", () => {
    const error: Error & { cause?: unknown } = new Error("round");
    error.cause = error;
    expect(written({ error })).toContain("[circular]");
  });
});

describe("pretty", () => {
  it("reads well and lets no control character through", () => {
    const { log, lines } = collecting({ pretty: true });
    log.with({ service: "oms" }).warn("hi \u001b[31m\u009b2J\r\nforged", { fund: "al\u202epha", count: 2 });
    expect(lines[0]).toBe(
      "09:46:40.123 WARN  oms: hi \\u001b[31m\\u009b2J\\u000d\\u000aforged fund=al\\u202epha count=2\n",
    );
    const coloured = collecting({ pretty: true, colour: true });
    coloured.log.error("x", { error: new Error("why", { cause: new Error("deeper") }) });
    expect(coloured.lines[0]).toContain("\u001b[31mERROR\u001b[0m x\n    Error: why");
    expect(coloured.lines[0]).toContain("caused by:\n      Error: deeper");
  });
});

describe("writing", () => {
  it("has written everything when the process dies at the next instruction", () => {
    const module = fileURLToPath(new URL("./pino-log.ts", import.meta.url));
    const program = `
      import { createLog } from ${JSON.stringify(module)};
      const log = createLog({ level: "info", pretty: false });
      for (let n = 0; n < 2000; n += 1) log.info("line", { n });
      process.kill(process.pid, "SIGKILL");`;
    const run = spawnSync(process.execPath, ["--import", "tsx", "--input-type=module", "-e", program], {
      encoding: "utf8",
      maxBuffer: 10_000_000,
    });
    expect(run.signal).toBe("SIGKILL");
    const lines = run.stdout.trimEnd().split("\n");
    expect(lines).toHaveLength(2_000);
    expect(JSON.parse(lines[1_999] ?? "")).toMatchObject({ n: 1_999 });
  });

  it("goes on through short writes and full pipes, and confesses lines that it lost", () => {
    let text = "";
    let failure: string | undefined;
    let turn = 0;
    const destination = fileDescriptorDestination(9, (_fd, bytes) => {
      if (failure !== undefined) throw Object.assign(new Error("no"), { code: failure });
      turn += 1;
      if (turn % 2 === 0) throw Object.assign(new Error("full"), { code: "EAGAIN" });
      text += Buffer.from(bytes.subarray(0, 3)).toString();
      return Math.min(3, bytes.length);
    });
    destination.write("first line\n");
    expect(text).toBe("first line\n");
    failure = "ENOSPC";
    destination.write("lost\n");
    destination.write("lost\n");
    failure = undefined;
    destination.write("third\n");
    expect(text).toContain("third\n");
    expect(text).toContain('"lost_count":2');
    expect(text).not.toContain("lost\n");
  });

  it("gives a reader up that has stopped reading", () => {
    const destination = fileDescriptorDestination(9, () => {
      throw Object.assign(new Error("full"), { code: "EAGAIN" });
    });
    const startedAt = performance.now();
    destination.write("stuck\n");
    expect(performance.now() - startedAt).toBeGreaterThan(900);
  });
});
