// Completion: each script is one that its shell accepts, and bash, which is everywhere, is asked to complete for real.
import { execFileSync, spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { serviceOperations } from "../../contracts/src/authority.ts";
import { completionScript, type Shell } from "./completion-scripts.ts";
import { groupsOf } from "./verb-groups.ts";
import { verbs } from "./verbs/index.ts";

const script = (shell: Shell): string =>
  completionScript(shell, { verbs, groups: groupsOf(verbs) }, { operation: serviceOperations });
const has = (program: string): boolean => spawnSync(program, ["-c", "exit 0"]).status === 0;

describe("syntax", () => {
  it("bash", () => {
    execFileSync("bash", ["-n"], { input: script("bash") });
  });
  it.each(["zsh", "fish"] as const)("%s, where there is one; balanced everywhere", (shell) => {
    if (has(shell))
      execFileSync(shell, shell === "zsh" ? ["-n", "/dev/stdin"] : ["--no-execute"], { input: script(shell) });
    const text = script(shell);
    expect(text).not.toMatch(/undefined|\[object/);
    if (shell === "fish") {
      expect(text.match(/^\s*(function|for|if|switch)\b/gm)?.length).toBe(text.match(/^\s*end$/gm)?.length);
    } else {
      expect(text.match(/^\s*case\b/gm)?.length).toBe(text.match(/^\s*esac$/gm)?.length);
    }
  });
  it("powershell: quotes and brackets balance", () => {
    const withoutTexts = script("powershell")
      .replace(/^#.*$/gm, "")
      .replace(/'(?:[^']|'')*'/g, "");
    expect(withoutTexts).not.toContain("'");
    for (const [open, close] of ["()", "{}", "[]"]) {
      expect(withoutTexts.split(open ?? "").length).toBe(withoutTexts.split(close ?? "").length);
    }
  });
  it.each(["bash", "zsh", "fish", "powershell"] as const)("%s knows every verb and option", (shell) => {
    const text = script(shell);
    for (const { name, options } of verbs) {
      expect(text).toContain(name);
      for (const option of options) expect(text).toContain(option.name);
    }
  });
});

describe("bash completes", () => {
  function complete(...words: readonly string[]): readonly string[] {
    const line = ["ctl", ...words].map((word) => `'${word}'`).join(" ");
    const ask = `COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _ctl; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const out = execFileSync("bash", ["-c", `${script("bash")}\n${ask}`], { encoding: "utf8" });
    return out.split("\n").filter((word) => word !== "");
  }

  it("verbs, groups, options, values and arguments", () => {
    expect(complete("")).toEqual(
      expect.arrayContaining(["up", "down", "doctor", "auth", "completion", "help", "--json"]),
    );
    expect(complete("au")).toEqual(["auth"]);
    expect(complete("auth", "log")).toEqual(["login", "logout"]);
    expect(complete("auth", "tokens", "r")).toEqual(["rotate", "revoke"]);
    expect(complete("auth", "login", "--d")).toEqual(["--dev"]);
    expect(complete("completion", "")).toEqual(expect.arrayContaining(["bash", "zsh", "fish", "powershell"]));
    expect(complete("--profile", "desk", "auth", "who")).toEqual(["whoami"]);
    expect(complete("auth", "tokens", "rotate", "tok_1", "--ov")).toEqual(["--overlap"]);
  });

  it("nothing after an option whose value nobody can know", () => {
    expect(complete("auth", "login", "--profile", "")).toEqual([]);
  });

  it("known values, topics of help, and the version where it is one", () => {
    expect(complete("auth", "login", "--dev", "")).toEqual(["duty", "relief", "viewer"]);
    expect(complete("auth", "tokens", "issue", "acme", "--operation", "Check")).toEqual(["CheckOrder", "CheckOrders"]);
    expect(complete("help", "")).toEqual(expect.arrayContaining(["exit-codes", "auth", "up"]));
    expect(complete("help", "auth", "tokens", "r")).toEqual(["rotate", "revoke"]);
    expect(complete("help", "auth", "login", "l")).toEqual([]);
    expect(complete("--ver")).toEqual(["--version"]);
    expect(complete("auth", "--ver")).toEqual([]);
  });
});
