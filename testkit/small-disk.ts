// A small file system of its own for a test: a tmpfs in a mount namespace that ends with the process that holds it, so that nothing stays mounted. Root
// needs no more; others get it where the kernel lets them have a user namespace.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import type { StartOptions } from "./platform.ts";

export interface SmallDisk {
  /** For `startPlatform`, with a data folder below the one that was asked for. */
  readonly within: NonNullable<StartOptions["within"]>;
  /** A path below the folder, as this process sees it. */
  seen(name: string): string;
  freeMb(): number;
  /** Takes so much that only this is left. */
  leave(megabytes: number): void;
  /** Takes everything, to the last block. */
  fill(): void;
  /** Gives back what was taken. */
  clear(): void;
  end(): void;
}

const bytesPerMegabyte = 1_000_000;
const mountScript = 'mount -t tmpfs -o size="$2",mode=0755 none "$1" && echo mounted && exec sleep 86400';

export async function smallDisk(folder: string, megabytes: number): Promise<SmallDisk> {
  const isRoot = process.getuid?.() === 0;
  const alone = isRoot ? [] : ["--user", "--map-current-user", "--keep-caps"];
  const script = ["sh", "-c", mountScript, "sh", folder, String(megabytes * bytesPerMegabyte)];
  const holder = spawn("unshare", [...alone, "--mount", ...script], { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise<void>((resolve, reject) => {
    holder.stdout.once("data", () => resolve());
    holder.once("exit", (code) => reject(new Error(`no small disk could be mounted (exit ${code})`)));
  });
  const root = `/proc/${holder.pid}/root`;
  const enter = ["nsenter", "--target", String(holder.pid), "--mount"];
  const as = isRoot ? [] : ["--user", "--preserve-credentials"];
  const seen = (name: string): string => join(root, folder, name);
  const free = (): number => {
    const { bavail, bsize } = statfsSync(seen("."));
    return bavail * bsize;
  };
  let count = 0;
  return {
    within: { command: [...enter, ...as, "--"], root },
    seen,
    freeMb: () => free() / bytesPerMegabyte,
    leave(left) {
      const bytes = Math.floor(free() - left * bytesPerMegabyte);
      if (bytes <= 0) throw new Error(`only ${free()} bytes are free`);
      count += 1;
      execFileSync("fallocate", ["--length", String(bytes), seen(`balloon-${count}`)]);
    },
    fill() {
      count += 1;
      // It ends with an error, when nothing more can be written: that is what it is for.
      spawnSync("dd", ["if=/dev/zero", `of=${seen(`balloon-${count}`)}`, "bs=64k", "status=none"], { stdio: "ignore" });
    },
    clear() {
      for (; count > 0; count -= 1) rmSync(seen(`balloon-${count}`), { force: true });
    },
    end: () => void holder.kill("SIGKILL"),
  };
}
