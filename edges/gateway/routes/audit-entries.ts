// GET /v1/operations/audit/entries: the log page by page, each entry as the exact text that is hashed.

import { Fault } from "../../../contracts/src/fault.ts";
import type { AuditPage, ReadAuditRequest } from "../../../contracts/src/generated/svc/v1/auditdesk.ts";
import type { HttpAnswer, Route } from "../../../ports/http.ts";
import { askAudit, logIn } from "../ask-audit.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { entriesAnswer, entriesQuery } from "../schemas/audit.ts";

const path = "/v1/operations/audit/entries";

export function auditEntries(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "readAudit",
    method: "GET",
    path,
    listeners: ["operator"],
    sentence: "Read the audit chain entry by entry; to follow it, ask again from the last sequence + 1.",
    operation: "ReadAudit",
    query: entriesQuery,
    answers: { 200: entriesAnswer },
    handle: async (request) => {
      const from = request.query.from_sequence ?? 0;
      let link: string | undefined;
      const answer = await askAudit<ReadAuditRequest, AuditPage>(parts, request, {
        service: "AuditDesk",
        method: "ReadAudit",
        message: { from_sequence: from, count_max: request.query.count_max ?? 0, ...logIn(request.query) },
        tell: ({ texts, size }) => {
          const next = from + texts.length;
          if (texts.length > 0 && next < size) link = nextPage(next, request.query);
          return { texts: texts.map((text, at) => readText(text, from + at)), size };
        },
      });
      return link === undefined ? answer : withLink(answer, link);
    },
  });
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** JSON carries text only, and an entry that is none was not written by us: it is told as what it is, a broken chain. */
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
function nextPage(
  from: number,
  { count_max: countMax, log }: { readonly count_max?: number | undefined; readonly log?: number | undefined },
): string {
  const asked = new URLSearchParams({ from_sequence: String(from) });
  if (countMax !== undefined) asked.set("count_max", String(countMax));
  if (log !== undefined) asked.set("log", String(log));
  return `<${path}?${asked}>; rel="next"`;
}

function withLink(answer: HttpAnswer, link: string): HttpAnswer {
  return answer.status < 400 ? { ...answer, headers: { link } } : answer;
}
