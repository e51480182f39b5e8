// Minds as real processes: what they may not reach, and that each ends with its work.
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ensureBundle } from "../../scripts/bundle.js";
import { byFloor } from "../../testkit/full-count.ts";
import { openMind } from "./open-mind.ts";

/** Each starts several processes, which give way to everything else on the machine. */
const waitMs = 300_000;
vi.setConfig({ testTimeout: waitMs });
let entry = "";
let folder = "";
beforeAll(async () => {
  entry = fileURLToPath(await ensureBundle("mind"));
  folder = mkdtempSync(join(tmpdir(), "mind-"));
}, waitMs);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const thread = { number: 1, title: "It crashes", body: "short", author: "stranger", comments: [] };
const material = { persona: "triager", thread, labels: ["bug"], words: {}, others: [] };
const signal = new AbortController().signal;

/** Of processes whose command line ends in the bundle's name and that this one started. */
function mindsOf(): readonly string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      const isOurs = new RegExp(`\\) [A-Z] ${process.pid} `).test(readFileSync(`/proc/${pid}/stat`, "latin1"));
      return /^\d+$/.test(pid) && isOurs && readFileSync(`/proc/${pid}/cmdline`, "latin1").endsWith("bot-mind.js\0");
    } catch {
      return false;
    }
  });
}

describe.runIf(process.platform === "linux" && process.allowedNodeEnvironmentFlags.has("--permission"))(
  "a mind",
  () => {
    it.each([
      ["with what this machine allows", undefined],
      ["where unshare is refused", { unshare: "/bin/false" }],
    ])("%s makes its plan, has no environment, and is gone afterwards", async (_how, tools) => {
      const mind = await openMind({ entry, dataFolder: folder, hidden: [], policy: "best", ...(tools && { tools }) });
      expect(mind.isolation, mind.note).toEqual(
        tools === undefined ? expect.stringMatching(/^(namespaces|process)$/) : "process",
      );
      let [environment, net, mnt, seen] = ["unread", "", "", 0];
      const end = await mind.think({
        material,
        deadlineMs: waitMs,
        signal,
        ask: async () => {
          const [pid] = mindsOf();
          seen = Number(pid);
          environment = readFileSync(`/proc/${pid}/environ`, "latin1");
          [net, mnt] = [readlinkSync(`/proc/${pid}/ns/net`), readlinkSync(`/proc/${pid}/ns/mnt`)];
          return undefined;
        },
      });
      expect(end).toEqual({ kind: "said", said: { by: "rules", plan: expect.objectContaining({ labels: ["bug"] }) } });
      expect(environment).toBe("");
      if (mind.isolation === "namespaces") {
        expect(net).not.toBe(readlinkSync("/proc/self/ns/net"));
        expect(mnt).not.toBe(readlinkSync("/proc/self/ns/mnt"));
      }
      expect(seen).toBeGreaterThan(0);
      expect(mindsOf()).toEqual([]);
    });

    it("is not started where namespaces are asked for and refused, and the sentence says so", async () => {
      const mind = await openMind({
        entry,
        dataFolder: folder,
        hidden: [],
        policy: "namespaces",
        tools: { unshare: "/bin/false" },
      });
      expect(mind.isolation).toBeUndefined();
      expect(mind.note).toContain("bots.isolation asks for namespaces");
      expect(await mind.think({ material, deadlineMs: 1_000, signal, ask: async () => undefined })).toMatchObject({
        kind: "failed",
      });
    });

    it.runIf(byFloor({ first: false, later: true }))("is ended at its deadline", async () => {
      const mind = await openMind({
        entry,
        dataFolder: folder,
        hidden: [],
        policy: "best",
        tools: { unshare: undefined },
      });
      const end = await mind.think({ material, deadlineMs: 3_000, signal, ask: () => new Promise(() => undefined) });
      expect(end).toMatchObject({ kind: "failed", why: "it took longer than 3 s" });
      expect(mindsOf()).toEqual([]);
    });
  },
);
