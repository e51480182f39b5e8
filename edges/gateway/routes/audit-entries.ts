// GET /v1/operations/audit/entries: the log page by page, each entry as the exact text that is hashed.

import { Fault } from "../../../contracts/src/fault.ts";
import type { AuditPage, ReadAuditRequest } from "../../../contracts/src/generated/svc/v1/auditdesk.ts";
import type { HttpAnswer, Route } from "../../../ports/http.ts";
import { askAudit } from "../ask-audit.ts";
import { declarationOf, declaredMessage, declaredRequest } from "../declared/route.ts";
import type { GatewayParts } from "../parts.ts";
import { entriesAnswer } from "../schemas/audit.ts";

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
          if (texts.length > 0 && next < size) link = nextPage({ ...message, from_sequence: next });
          return { texts: texts.map((text, at) => readText(text, from + at)), size };
        },
      });
      return link === undefined ? answer : withLink(answer, link);
    },
  };
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
function nextPage({ from_sequence, count_max, log }: ReadAuditRequest): string {
  const asked = new URLSearchParams({ from_sequence: String(from_sequence) });
  if (count_max > 0) asked.set("count_max", String(count_max));
  if (log !== undefined) asked.set("log", String(log));
  return `<${declarationOf("readAudit").path}?${asked}>; rel="next"`;
}

function withLink(answer: HttpAnswer, link: string): HttpAnswer {
  return answer.status < 400 ? { ...answer, headers: { link } } : answer;
}
