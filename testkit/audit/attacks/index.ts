// Every attack in one list.
import { entryAttacks } from "./entries.ts";
import { keyAttacks } from "./keys.ts";
import { noteAttacks } from "./notes.ts";
import type { Attack } from "./shape.ts";
import { textAttacks } from "./texts.ts";

export const attacks: readonly Attack[] = [...entryAttacks, ...noteAttacks, ...textAttacks, ...keyAttacks];
