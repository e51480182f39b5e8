// The four ways to ask: both gRPC services, REST and ctl. Each puts the same request into its own words and gives back what was answered.
import { testClient } from "../grpc/test-client.ts";
import { fetchOnNewConnection } from "../http/fetch-on-new-connection.ts";
import type { HaltTableFixture, TableCaller } from "./fixture.ts";
import type { Request, SurfaceAnswer } from "./surface-answer.ts";

export const surfaceNames = ["Operations", "RiskEngine", "REST", "ctl"] as const;
export type SurfaceName = (typeof surfaceNames)[number];

export interface Surface {
  readonly name: SurfaceName;
  /** Undefined when this surface has no words for it. */
  ask(caller: TableCaller, request: Request): Promise<SurfaceAnswer | undefined>;
  close(): void;
}

export function grpcSurface(fixture: Pick<HaltTableFixture, "grpc">, name: "Operations" | "RiskEngine"): Surface {
  const client = testClient(fixture.grpc[name]);
  return {
    name,
    async ask({ token }, request) {
      const metadata: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const [method, message] =
        request.verb === "halt" ? ["RequestHalt", haltMessage(request)] : ["ResumeHalt", resumeMessage(request)];
      const { status, answer, details, ...rest } = await client.call(name, method, message, {
        metadata,
        deadlineMs: 20_000,
      });
      const code = status === "OK" ? "" : String(rest.metadata.get("portcullis-code")[0] ?? "?");
      return { code, reported: status, body: (answer ?? {}) as Record<string, unknown>, sentence: details };
    },
    close: client.close,
  };
}

function haltMessage({ level, target, reason = "", word }: Request): object {
  return {
    severity: level,
    fund_id: level === "FUND_HALT" ? target : "",
    ...(level === "STRATEGY_HALT" && { strategy_id: target }),
    reason,
    requested_by: "",
    ...(word !== undefined && { confirmation: word }),
  };
}

function resumeMessage(request: Request): object {
  const { level, target, reason, word, code, requestId, cosignedBy, haltIds = [], rebase } = request;
  const scope = level === "STRATEGY_HALT" ? { strategy_id: target } : { fund_id: target };
  return {
    ...(target !== "" && scope),
    ...(reason !== undefined && { reason }),
    ...(word !== undefined && { confirmation: word }),
    ...(code !== undefined && { one_time_code: code }),
    ...(requestId !== undefined && { request_id: requestId }),
    ...(cosignedBy !== undefined && { cosigned_by: cosignedBy }),
    halt_ids: [...haltIds],
    ...(rebase && { rebase }),
  };
}

export function restSurface(fixture: Pick<HaltTableFixture, "url">): Surface {
  return {
    name: "REST",
    async ask({ token }, request) {
      const { verb, target, reason, word, code, requestId, cosignedBy, haltIds, rebase } = request;
      const body = {
        ...(target !== "" && { id: target }),
        ...(reason !== undefined && { reason }),
        ...(word !== undefined && { confirmation: word }),
        ...(verb !== "halt" && code !== undefined && { one_time_code: code }),
        ...(requestId !== undefined && { request_id: requestId }),
        ...(cosignedBy !== undefined && { cosigned_by: cosignedBy }),
        ...(haltIds !== undefined && { halt_ids: haltIds }),
        ...(rebase && { rebase }),
      };
      return postJson(`${fixture.url}${verb === "halt" ? "/v1/halts" : "/v1/halts/resume"}`, token, body);
    },
    close: () => undefined,
  };
}

export async function postJson(url: string, token: string | undefined, body: object): Promise<SurfaceAnswer> {
  const headers = {
    "content-type": "application/json",
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  const answer = await fetchOnNewConnection(url, { method: "POST", headers, body: JSON.stringify(body) });
  const document = (await answer.json()) as Record<string, unknown>;
  const code = answer.ok ? "" : String(document["code"]);
  return { code, reported: answer.status, body: document, sentence: String(document["detail"] ?? "") };
}

export type RunCtl = (
  words: readonly string[],
  environment: Readonly<Record<string, string>>,
) => Promise<{ readonly exit: number; readonly stdout: string; readonly stderr: string }>;

export function ctlSurface(fixture: Pick<HaltTableFixture, "url">, run: RunCtl): Surface {
  return {
    name: "ctl",
    async ask({ token }, request) {
      if (request.cosignedBy !== undefined || request.haltIds !== undefined) return undefined;
      const environment = {
        PORTCULLIS_URL: fixture.url,
        ...(token === undefined ? {} : { PORTCULLIS_TOKEN: token }),
      };
      const { exit, stdout, stderr } = await run([...wordsOf(request), "--json"], environment);
      const text = stdout === "" ? (stderr.trimEnd().split("\n").at(-1) ?? "{}") : stdout;
      const body = JSON.parse(text) as Record<string, unknown>;
      const code = stdout === "" ? String(body["code"]) : "";
      return { code, reported: exit, body, sentence: String(body["detail"] ?? "") };
    },
    close: () => undefined,
  };
}

function wordsOf({ verb, target, reason, word, code, requestId, rebase }: Request): readonly string[] {
  const option = (name: string, value: string | undefined): readonly string[] =>
    value === undefined ? [] : [`--${name}`, value];
  return [
    ...["cmd", verb === "halt" ? "halt" : "resume", ...(target === "" ? [] : [target])],
    ...option("reason", reason),
    ...option("confirm", word),
    ...(verb === "halt" ? [] : option("totp", code)),
    ...option("cosign", requestId),
    ...(rebase ? ["--rebase"] : []),
  ];
}
