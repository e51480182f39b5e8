// Which desk was open last, so that the bare address opens it again. Nothing else is kept in the browser.
import { desks } from "../desk-list.ts";

const key = "portcullis-desk";

export function rememberPath(path: string): void {
  localStorage.setItem(key, path);
}

export function lastPath(): string {
  const kept = localStorage.getItem(key);
  return desks.some(({ path }) => path === kept) && kept !== null ? kept : "/risk";
}
