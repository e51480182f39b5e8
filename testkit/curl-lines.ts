// The curl lines of our pages, run as a shell runs them, with what curl was answered.
import { spawn } from "node:child_process";

export interface Ran {
  readonly line: string;
  readonly exit: number;
  readonly status: number;
  readonly body: string;
}

export function runCurl(line: string, token: string): Promise<Ran> {
  const script = `curl() { command curl -w '\\n%{http_code}' "$@"; }\n${line}`;
  const child = spawn("bash", ["-c", script], { env: { PATH: process.env["PATH"] ?? "", TOKEN: token } });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      const [, body = "", status = "0"] = /^([\s\S]*)\n(\d{3})$/.exec(said) ?? [];
      resolve({ line, exit: code ?? -1, status: Number(status), body });
    });
  });
}

const triesMax = 10;

/** Six at once: most of them wait. */
export async function runCurls(lines: readonly string[], token: string): Promise<readonly Ran[]> {
  const waiting = [...lines];
  const outcomes: Ran[] = [];
  const runs = async (): Promise<void> => {
    for (let line = waiting.shift(); line !== undefined; line = waiting.shift())
      outcomes.push(await ranInTime(line, token));
  };
  await Promise.all(Array.from({ length: 6 }, runs));
  return outcomes;
}

/** A line whose own limit is over before the answer begins is run again: how soon that is says how busy the machine is. */
async function ranInTime(line: string, token: string): Promise<Ran> {
  for (let tries = 1; ; tries += 1) {
    const ran = await runCurl(line, token);
    if (tries === triesMax || ran.status !== 0 || ran.exit !== 28) return ran;
  }
}

export function curlLinesOf(page: string): readonly string[] {
  const blocks = [...page.matchAll(/<pre class="curl"><code>([^<]*)<\/code><\/pre>/g)].map(([, line = ""]) => line);
  return blocks.map((line) =>
    line.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&"),
  );
}

/** What an example may come to on a platform that has not what it names, asks for a second factor, or is still making what is asked for. */
const answered = [200, 201, 202, 403, 404, 409, 412, 422, 428, 429, 503];

/** Those that were not answered as right requests; one that goes on telling ends when its time is over. */
export function wrongOf(outcomes: readonly Ran[]): readonly Ran[] {
  return outcomes.filter(
    ({ line, exit, status }) =>
      !answered.includes(status) || (exit !== 0 && !(exit === 28 && line.includes("--max-time"))),
  );
}

export const isReading = (line: string): boolean => !line.includes(" -X ");
