// Certificate files as administrators leave them: good, broken, open to others, run out, replaced one after the other.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fromUnixMs } from "../../contracts/src/instant.ts";
import { testPorts } from "../../testkit/http/test-ports.ts";
import { newAuthority, selfSigned, writePair } from "../../testkit/test-certificate.ts";
import { type KeptCertificate, keepCertificate } from "./kept-certificate.ts";

const dayMs = 86_400_000;
let folder = "";
let kept: KeptCertificate | undefined;
beforeEach(() => {
  folder = mkdtempSync(`${tmpdir()}/portcullis-tls-`);
});
afterEach(() => {
  kept?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Timers that a test moves by hand: the next look happens when it says so. */
function keep(files: { certFile: string; keyFile: string; caFile?: string }, nowMs: () => number = Date.now) {
  const { ports, lines } = testPorts();
  const looks: (() => void)[] = [];
  const alarms: string[] = [];
  const certificate = keepCertificate({
    ...files,
    ...ports,
    clock: { now: () => fromUnixMs(nowMs()) },
    timers: {
      ...ports.timers,
      after: (_ms, run) => {
        looks.push(run);
        return () => undefined;
      },
    },
    alarms: { raise: (code, about) => void alarms.push(`${code} ${about}`), clear: () => undefined },
    owner: "the test's server",
  });
  kept = certificate;
  const look = (): void => looks.shift()?.();
  return { certificate, look, alarms, lines };
}

const authority = newAuthority();
const expired = { from: new Date("2001-01-01T00:00:00Z"), to: new Date("2002-01-01T00:00:00Z") };

describe("files that cannot be used", () => {
  it.each([
    ["no certificate", (f: Files) => writeFileSync(f.certFile, "nothing"), /holds no certificate as PEM/],
    ["no key", (f: Files) => writeFileSync(f.keyFile, "nothing"), /holds no private key as PEM/],
    ["another key", (f: Files) => writeFileSync(f.keyFile, selfSigned("a").key), /do not belong together/],
    ["a missing file", (f: Files) => rmSync(f.certFile), /cannot be read: ENOENT/],
    ["a key for everybody", (f: Files) => chmodSync(f.keyFile, 0o644), /open to others \(mode 0644\). Run chmod 600/],
  ])("are refused in a sentence: %s", (_name, spoil, sentence) => {
    const files = writePair(folder, "a", authority.issue(["a"]));
    spoil(files);
    expect(() => keep(files)).toThrow(sentence);
  });

  it("never repeat the key", () => {
    const made = authority.issue(["a"]);
    const files = writePair(folder, "a", { ...made, key: `${made.key.slice(0, 80)}precious` });
    expect(() => keep(files)).toThrow(expect.objectContaining({ message: expect.not.stringContaining("precious") }));
  });

  it("of an authority are refused too", () => {
    const files = writePair(folder, "a", authority.issue(["a"]));
    expect(() => keep({ ...files, caFile: files.keyFile })).toThrow(/authorities .* holds no certificate/);
  });
});

type Files = ReturnType<typeof writePair>;

describe("a certificate that is replaced", () => {
  it("is taken when its files have changed, and once", () => {
    const files = writePair(folder, "a", authority.issue(["a"]));
    const { certificate, look } = keep(files);
    const heard: string[] = [];
    certificate.onChange(({ cert }) => heard.push(cert));
    look();
    expect(heard).toEqual([]);
    const renewed = authority.issue(["a"]);
    writePair(folder, "a", renewed);
    look();
    look();
    expect(heard).toEqual([renewed.certificate]);
    expect(certificate.current().key).toBe(renewed.key);
    expect(certificate.health()).toEqual({ status: "ok" });
  });

  it("file by file is not complained about in between", () => {
    const files = writePair(folder, "a", authority.issue(["a"]));
    const { certificate, look, alarms } = keep(files);
    const renewed = authority.issue(["a"]);
    writeFileSync(files.certFile, renewed.certificate);
    look();
    expect(certificate.health()).toEqual({ status: "ok" });
    writeFileSync(files.keyFile, renewed.key);
    look();
    expect(certificate.current().cert).toBe(renewed.certificate);
    expect(alarms).toEqual([]);
  });

  it.each([
    ["broken", () => ({ certificate: "nothing", key: "" }), /holds no certificate/],
    ["run out", () => authority.issue(["a"], expired), /ran out on 2002-01-01/],
    ["from tomorrow on", () => authority.issue(["a"], { from: new Date("2090-01-01T00:00:00Z") }), /not valid before/],
  ])("by one that is %s stays, with a complaint and one alarm, until it is good", (_name, make, sentence) => {
    const before = authority.issue(["a"]);
    const files = writePair(folder, "a", before);
    const { certificate, look, alarms, lines } = keep(files);
    writePair(folder, "a", make());
    for (let count = 0; count < 4; count += 1) look();
    expect(certificate.current().cert).toBe(before.certificate);
    expect(certificate.health()).toMatchObject({ status: "ok", complaint: expect.stringMatching(sentence) });
    expect(alarms).toEqual(["CERTIFICATE_UNUSABLE the test's server"]);
    expect(lines.filter(({ level }) => level === "error")).toHaveLength(1);
    writePair(folder, "a", authority.issue(["a"]));
    look();
    expect(certificate.health()).toEqual({ status: "ok" });
  });
});

describe("the end of a certificate", () => {
  it("is reported from 14 days before it on, and turns health red when it has come", () => {
    const end = Date.parse("2027-03-01T00:00:00Z");
    const files = writePair(folder, "a", authority.issue(["a"], { to: new Date(end) }));
    let now = end - 14 * dayMs - 1;
    const { certificate, look, alarms } = keep(files, () => now);
    expect([certificate.health(), alarms]).toEqual([{ status: "ok" }, []]);
    now += 1;
    look();
    expect(certificate.health().complaint).toMatch(/runs out on 2027-03-01, in 14 days: put a new one there/);
    expect(certificate.health().status).toBe("ok");
    expect(alarms).toEqual(["CERTIFICATE_EXPIRING the test's server"]);
    now = end;
    expect(certificate.health()).toMatchObject({ status: "failing", complaint: expect.stringMatching(/ran out on/) });
  });

  it("does not keep a platform from starting, which could not halt either then", () => {
    const files = writePair(folder, "a", authority.issue(["a"], expired));
    expect(keep(files).certificate.health().status).toBe("failing");
  });
});
