// The audit log as operations runs it, on a database of its own: sequencer, tree, tiles and signed checkpoints, without witnesses. Nothing comes over the
// bus, so that what is measured is what was asked for.

import type { DatabaseAddress } from "../../adapters/postgres/connection.ts";
import { openAuditLog } from "../../adapters/records/open-audit-log.ts";
import { openStore } from "../../adapters/records/open-store.ts";
import { systemCipher } from "../../adapters/system/cipher.ts";
import { systemSha256OfBytes, systemSigning } from "../../adapters/system/signing.ts";
import type { AuditLog } from "../../ports/audit-log.ts";
import type { Bus, Subscription } from "../../ports/bus.ts";
import { startAudit } from "../../services/operations/audit/audit.ts";
import type { RunningAudit } from "../../services/operations/audit/audit-ports.ts";
import { memorySubjectKeys } from "../../testkit/memory/subject-keys.ts";
import { plainSecrets } from "../../testkit/plain-secrets.ts";
import { benchTools } from "../bus/ticket.ts";

export interface AuditFixture {
  readonly audit: RunningAudit;
  readonly auditLog: AuditLog;
  close(): Promise<void>;
}

/** The log's store alone, as the operations process opens it. */
export function openLogStore(address: DatabaseAddress) {
  const tools = benchTools();
  const options = { ...tools, database: address.app, source: "operations", services: ["operations"] };
  const opened = openStore(options);
  const log = openAuditLog(options, opened);
  return {
    tools,
    store: opened.store,
    auditLog: log.auditLog,
    async close() {
      await log.close();
      await opened.close();
    },
  };
}

export async function openAudit(address: DatabaseAddress): Promise<AuditFixture> {
  const { tools, store, auditLog, close } = openLogStore(address);
  const audit = await startAudit({
    ...tools,
    store,
    auditLog,
    bus: silentBus,
    secrets: plainSecrets(),
    signing: systemSigning(),
    witnesses: undefined,
    crash: {
      die(defect) {
        throw defect;
      },
    },
    anchors: [],
    subjectKeys: memorySubjectKeys(),
    cipher: systemCipher,
    sha256OfBytes: systemSha256OfBytes,
    auditSettings: { signingKeyPath: "secret/bench/audit/signing-key", verifyFirstAfterMs: 86_400_000 },
  });
  return {
    audit,
    auditLog,
    async close() {
      await audit.stop();
      await close();
    },
  };
}

const silence: Subscription = {
  handledCount: () => 0,
  droppedCount: () => 0,
  caughtUpAt: () => undefined,
  close: async () => undefined,
};

const silentBus: Bus = {
  subscribe: async () => silence,
  listen: async () => silence,
  broadcast: () => undefined,
  forget: async () => undefined,
  health: () => ({ connected: true }),
  close: async () => undefined,
};
