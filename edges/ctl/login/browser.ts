// Opens a browser where there is one. Trying is enough: the address stands on the terminal, so a failure is not worth a word.
import { spawn } from "node:child_process";
import type { Environment } from "../terminal.ts";

export type OpenBrowser = typeof openBrowser;

export function openBrowser(address: string, environment: Environment): void {
  // The address came over the network: only web addresses are handed to the system, as one argument and without a shell.
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) return;
  const opener = openerOf(process.platform, environment);
  if (opener === undefined) return;
  const [command, ...before] = opener;
  const child = spawn(command, [...before, address], { stdio: "ignore", detached: true });
  child.on("error", () => undefined);
  child.unref();
}

function openerOf(platform: NodeJS.Platform, environment: Environment): readonly [string, ...string[]] | undefined {
  if (platform === "darwin") return ["open"];
  if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler"];
  const hasDesktop = (environment["DISPLAY"] ?? environment["WAYLAND_DISPLAY"] ?? "") !== "";
  return hasDesktop ? ["xdg-open"] : undefined;
}
