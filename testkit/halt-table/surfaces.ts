// The four ways to ask: both gRPC services, REST and ctl. Each puts the same wish into its own words and gives back what was answered.
import { testClient } from "../grpc/test-client.ts";
import type { HaltGround, TableCaller } from "./ground.ts";
import type { SurfaceAnswer, Wish } from "./surface-answer.ts";

export const surfaceNames = ["Operations", "RiskEngine", "REST", "ctl"] as const;
export type SurfaceName = (typeof surfaceNames)[number];

export interface Surface {
  readonly name: SurfaceName;
  /** Undefined when this surface has no words for it. */
  ask(caller: TableCaller, wish: Wish): Promise<SurfaceAnswer | undefined>;
  close(): void;
}

export function grpcSurface(ground: Pick<HaltGround, "grpc">, name: "Operations" | "RiskEngine"): Surface {
  const client = testClient(ground.grpc[name]);
  return {
    name,
    async ask({ token }, wish) {
      const metadata: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const [method, message] =
        wish.verb === "halt" ? ["RequestHalt", haltMessage(wish)] : ["ResumeHalt", resumeMessage(wish)];
      const { status, answer, details, ...rest } = await client.call(name, method, message, {
        metadata,
        deadlineMs: 20_000,
      });
      const code = status === "OK" ? "" : String(rest.metadata.get("portcullis-code")[0] ?? "?");
      return { code, told: status, body: (answer ?? {}) as Record<string, unknown>, sentence: details };
    },
    close: client.close,
  };
}

function haltMessage({ level, target, reason = "", word }: Wish): object {
  return {
    severity: level,
    fund_id: level === "FUND_HALT" ? target : "",
    ...(level === "STRATEGY_HALT" && { strategy_id: target }),
    ...{ reason, requested_by: "" },
    ...(word !== undefined && { confirmation: word }),
  };
}

function resumeMessage(wish: Wish): object {
  const { level, target, reason, word, code, requestId, cosignedBy, haltIds = [], rebase } = wish;
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

export function restSurface(ground: Pick<HaltGround, "url">): Surface {
  return {
    name: "REST",
    async ask({ token }, wish) {
      const { verb, target, reason, word, code, requestId, cosignedBy, haltIds, rebase } = wish;
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
      return postJson(`${ground.url}${verb === "halt" ? "/v1/halts" : "/v1/halts/resume"}`, token, body);
    },
    close: () => undefined,
  };
}

export async function postJson(url: string, token: string | undefined, body: object): Promise<SurfaceAnswer> {
  const headers = {
    "content-type": "application/json",
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  const document = (await answer.json()) as Record<string, unknown>;
  const code = answer.ok ? "" : String(document["code"]);
  return { code, told: answer.status, body: document, sentence: String(document["detail"] ?? "") };
}

export type RunCtl = (
  words: readonly string[],
  environment: Readonly<Record<string, string>>,
) => Promise<{ readonly exit: number; readonly stdout: string; readonly stderr: string }>;

export function ctlSurface(ground: Pick<HaltGround, "url">, run: RunCtl): Surface {
  return {
    name: "ctl",
    async ask({ token }, wish) {
      if (wish.cosignedBy !== undefined || wish.haltIds !== undefined) return undefined;
      const environment = {
        PORTCULLIS_URL: ground.url,
        ...(token === undefined ? {} : { PORTCULLIS_TOKEN: token }),
      };
      const { exit, stdout, stderr } = await run([...wordsOf(wish), "--json"], environment);
      const text = stdout === "" ? (stderr.trimEnd().split("\n").at(-1) ?? "{}") : stdout;
      const body = JSON.parse(text) as Record<string, unknown>;
      const code = stdout === "" ? String(body["code"]) : "";
      return { code, told: exit, body, sentence: String(body["detail"] ?? "") };
    },
    close: () => undefined,
  };
}

function wordsOf({ verb, target, reason, word, code, requestId, rebase }: Wish): readonly string[] {
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
