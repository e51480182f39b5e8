// What a mind gets: what the reader gathered from one thread, within bounds. All of it was written by others.
import type { BotPersona } from "../../contracts/src/records/githubbot.ts";

export interface ThreadMaterial {
  readonly number: number;
  readonly title: string;
  readonly body: string;
  readonly author: string;
  readonly comments: readonly CommentMaterial[];
}

export interface CommentMaterial {
  readonly author: string;
  /** A person whom the repository lets write, as GitHub said just now. */
  readonly mayWrite: boolean;
  readonly body: string;
}

export interface OtherIssue {
  readonly number: number;
  readonly title: string;
  readonly body: string;
}

export interface PatchMaterial {
  readonly path: string;
  /** As GitHub gives it; undefined for binaries and what is too large. */
  readonly patch: string | undefined;
}

export interface FileMaterial {
  readonly path: string;
  readonly content: string;
}

export type Material =
  | {
      readonly persona: "triager";
      readonly thread: ThreadMaterial;
      readonly labels: readonly string[];
      /** Word to label, of the repository's settings. */
      readonly words: Readonly<Record<string, string>>;
      readonly others: readonly OtherIssue[];
    }
  | {
      readonly persona: "code_reviewer";
      readonly thread: ThreadMaterial;
      readonly branch: string;
      readonly patches: readonly PatchMaterial[];
    }
  | {
      readonly persona: "bug_fixer";
      readonly thread: ThreadMaterial;
      readonly paths: readonly string[];
      readonly files: readonly FileMaterial[];
    };

export type MaterialOf<Name extends BotPersona> = Extract<Material, { persona: Name }>;

export const filesMax = 100;
export const bytesMax = 300_000;

/** As many as fit into what is left, in their order; a text that is too long by itself is left out. */
export function withinBytes<One>(all: readonly One[], bytesOf: (one: One) => number, most: number): readonly One[] {
  let left = most;
  return all.filter((one) => {
    const bytes = bytesOf(one);
    if (bytes > left) return false;
    left -= bytes;
    return true;
  });
}
