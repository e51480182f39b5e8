// The audit log over HTTP, where a route does more than forward.

import { Fault } from "../../../contracts/src/fault.ts";
import type {
  AppendAuditRequest,
  AuditEntry,
  AuditTrail,
  AuditTrailRequest,
} from "../../../contracts/src/generated/svc/v1/audit.ts";
import type {
  AuditPage,
  AuditProof,
  AuditProofRequest,
  AuditStatus,
  AuditTile,
  AuditTileRequest,
  ReadAuditRequest,
} from "../../../contracts/src/generated/svc/v1/auditdesk.ts";
import type { HttpAnswer, Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askAudit, askAuditText, entryJson, logIn } from "../ask-audit.ts";
import {
  askDeclared,
  declarationOf,
  declared,
  declaredBody,
  declaredMessage,
  declaredPlace,
  declaredRequest,
} from "../declared/route.ts";
import { callerOf, defineRoute } from "../define-route.ts";
import { keyedName } from "../keyed-name.ts";
import type { GatewayParts } from "../parts.ts";
import { appendBody, entriesAnswer, entryAnswer, tileParams, trailAnswer } from "../schemas/audit.ts";

/** POST /v1/operations/audit: one more entry, whose actor is whoever proved to be calling. It is answered when the entry is durable. */
export function auditAppend(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    ...declaredPlace("appendAudit"),
    body: appendBody,
    answers: { 201: entryAnswer },
    handle: async (request) => {
      const { action, subject_id, data, idempotency_key } = request.body;
      // The log's own key counts for ever, so that not even a crash between the entry and its answer makes two.
      const named = idempotency_key ?? keyedName(request);
      const key = named === undefined ? {} : { idempotency_key: named };
      return askAudit<AppendAuditRequest, AuditEntry>(parts, request, {
        service: "Operations",
        method: "AppendAudit",
        message: { actor: callerOf(request).actor, action, subject_id, data: data ?? {}, ...key },
        status: 201,
        tell: entryJson,
      });
    },
  });
}

/** GET /v1/operations/audit/log/checkpoint: the newest checkpoint where readers of C2SP logs look for it. */
export function auditCheckpoint(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    ...declaredPlace("getAuditCheckpoint"),
    answers: { 200: "text" },
    handle: async (request) => {
      const answer = await askAuditText<AuditTileRequest, AuditTile>(parts, request, {
        service: "AuditDesk",
        method: "GetAuditTile",
        message: { path: "checkpoint" },
        textOf: ({ content }) => new TextDecoder().decode(content),
      });
      // The next one replaces it within a second.
      return { ...answer, headers: { "cache-control": "no-store" } };
    },
  });
}

/** GET /v1/operations/audit/entries: the log page by page, each entry as the exact text that is hashed. */
export function auditEntries(parts: Pick<GatewayParts, "services">): Route {
  return {
    ...declaredRequest("readAudit"),
    answers: { 200: entriesAnswer },
    handle: async (request) => {
      const message = declaredMessage<ReadAuditRequest>("readAudit", request);
      const from = message.from_sequence;
      let link: string | undefined;
      const answer = await askAudit<ReadAuditRequest, AuditPage>(parts, request, {
        service: "AuditDesk",
        method: "ReadAudit",
        message,
        tell: ({ texts, size }) => {
          const next = from + texts.length;
          if (texts.length > 0 && next < size) link = nextEntriesPage({ ...message, from_sequence: next });
          return { texts: texts.map((text, at) => readText(text, from + at)), size };
        },
      });
      return link === undefined ? answer : withLink(answer, link);
    },
  };
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** JSON carries text only, and an entry that is none was not written by us: it is reported as what it is, a broken chain. */
export function readText(bytes: Uint8Array, sequence: number): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    const facts = { code: "ENTRY_MALFORMED", sequence, expected: "UTF-8", actual: `${bytes.length} other bytes` };
    const sentence = `The audit chain is broken: entry ${sequence} is not text.`;
    throw new Fault("CHAIN_INTEGRITY", sentence, { retry: "never", facts, cause });
  }
}

/** RFC 8288. */
function nextEntriesPage({ from_sequence, count_max, log }: ReadAuditRequest): string {
  const asked = new URLSearchParams({ from_sequence: String(from_sequence) });
  if (count_max > 0) asked.set("count_max", String(count_max));
  if (log !== undefined) asked.set("log", String(log));
  return `<${declarationOf("readAudit").path}?${asked}>; rel="next"`;
}

function withLink(answer: HttpAnswer, link: string): HttpAnswer {
  return answer.status < 400 ? { ...answer, headers: { link } } : answer;
}

/** GET /v1/operations/audit/entries/:sequence/proof: one entry as a file that verifies without us. */
export function auditProof(parts: Pick<GatewayParts, "services">): Route {
  return {
    ...declared("getAuditProof"),
    handle: (request) =>
      askAuditText<AuditProofRequest, AuditProof>(parts, request, {
        service: "AuditDesk",
        method: "GetAuditProof",
        message: declaredMessage("getAuditProof", request),
        textOf: ({ file }) => file,
      }),
  };
}

/** GET /v1/operations/audit/status: how far the audit chain reaches and who vouches for it. */
export function auditStatus(parts: Pick<GatewayParts, "services">): Route {
  return {
    ...declared("getAuditStatus"),
    handle: async (request) =>
      answerTo(await askDeclared<AuditStatus>("getAuditStatus", parts, request, {}), 200, statusBody),
  };
}

/** The number of a log and the closed ones are shown once there is more than one. */
function statusBody(status: AuditStatus): object {
  const all = declaredBody("getAuditStatus", status);
  return status.log > 1 ? all : { ...all, log: undefined, closed_logs: undefined };
}

/**
 * GET /v1/operations/audit/log/tile/...: tiles of the tree and bundles of entries where readers of C2SP logs look for them. A full tile never
 * changes, so whoever has it may keep it; a partial one is soon replaced by a wider one.
 */
export function auditTile(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    ...declaredPlace("getAuditTile"),
    params: tileParams,
    answers: { 200: "bytes" },
    handle: async (request) => {
      const path = `tile/${request.params.path}`;
      const answer = await askAudit<AuditTileRequest, AuditTile>(parts, request, {
        service: "AuditDesk",
        method: "GetAuditTile",
        message: { path },
        tell: ({ content }) => content,
      });
      const isFull = answer.status === 200 && !path.includes(".p/");
      // Private, because it was given to somebody who may read it.
      const kept = isFull ? "private, max-age=31536000, immutable" : "no-store";
      return { ...answer, headers: { ...answer.headers, "cache-control": kept } };
    },
  });
}

/**
 * GET /v1/operations/audit: everything that was done to one subject, oldest first, page by page. The address of the next page says how many entries
 * went before, so that the last one can prove that none was left out; a header says when it cannot.
 */
export function auditTrail(parts: Pick<GatewayParts, "services">): Route {
  return {
    ...declaredRequest("getAuditTrail"),
    answers: { 200: trailAnswer },
    handle: async (request) => {
      const asked = declaredMessage<AuditTrailRequest>("getAuditTrail", request);
      const headers: Record<string, string> = {};
      const answer = await askAudit<AuditTrailRequest, AuditTrail>(parts, request, {
        service: "Operations",
        method: "GetAuditTrail",
        message: asked,
        tell: ({ entries, next_sequence, next_log, complete, logs = [] }) => {
          // What closed logs hold proves nothing about the one that is written.
          const count = entries.length - logs.length;
          if (next_sequence > 0) headers["link"] = nextTrailPage(asked, count, next_sequence, next_log ?? 0);
          else if (complete === false) headers["portcullis-completeness"] = "not-proven-yet";
          return entries.map((entry, at) => ({ ...entryJson(entry), ...logIn({ log: logs[at] }) }));
        },
      });
      if (answer.status >= 400 || Object.keys(headers).length === 0) return answer;
      return { ...answer, headers: { ...answer.headers, ...headers } };
    },
  };
}

/** RFC 8288. What went before is counted only when all of it was. */
function nextTrailPage(asked: AuditTrailRequest, count: number, next: number, log: number): string {
  const query = new URLSearchParams({ subject_id: asked.subject_id, from_sequence: String(next) });
  query.set("count_max", String(asked.count_max));
  if (log > 0) query.set("log", String(log));
  const before = asked.from_sequence === 0 ? 0 : asked.count_before;
  if (before !== undefined && log === 0) query.set("count_before", String(before + count));
  return `<${declarationOf("getAuditTrail").path}?${query}>; rel="next"`;
}
