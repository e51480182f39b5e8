// The load of the market-data bench over HTTP: so many connections that each ask again when they were answered, or one caller at a steady pace.
import { Agent, get } from "node:http";

export interface Load {
  readonly rps: number;
  readonly p99Ms: number;
  readonly refused: number;
}

function ask(
  port: number,
  agent: Agent,
  localAddress: string,
): Promise<{ readonly ms: number; readonly status: number }> {
  return new Promise((resolve, reject) => {
    const from = performance.now();
    get({ host: "127.0.0.1", port, path: "/v1/quotes/S1", agent, localAddress }, (response) => {
      response.resume();
      response.once("end", () => resolve({ ms: performance.now() - from, status: response.statusCode ?? 0 }));
    }).once("error", reject);
  });
}

export async function flood(port: number, connections: number, forMs: number): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const times: number[] = [];
  const until = performance.now() + forMs;
  let refused = 0;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (performance.now() < until) {
        const { ms, status } = await ask(port, agent, "127.0.0.1");
        times.push(ms);
        if (status !== 200) refused += 1;
      }
    }),
  );
  agent.destroy();
  return { rps: (times.length * 1_000) / (performance.now() - began), p99Ms: quantile(times, 0.99), refused };
}

/** One caller at a steady pace, whatever the answers. */
export async function pace(port: number, localAddress: string, perS: number, forMs: number): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  const times: number[] = [];
  let refused = 0;
  const asked: Promise<void>[] = [];
  const began = performance.now();
  for (let count = 0; (count * 1_000) / perS < forMs; count += 1) {
    const waitMs = began + (count * 1_000) / perS - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    asked.push(
      ask(port, agent, localAddress).then(({ ms, status }) => {
        times.push(ms);
        if (status !== 200) refused += 1;
      }),
    );
  }
  await Promise.all(asked);
  agent.destroy();
  return { rps: (times.length * 1_000) / (performance.now() - began), p99Ms: quantile(times, 0.99), refused };
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
