import { lstat, readdir } from "node:fs/promises";
import path from "node:path";

/**
 * The names that a path of a context has on this machine. Paths of contexts are in Unicode form
 * NFC. A disk that distinguishes the forms can have a name in another form: then this name is used.
 */
export async function localNames(directory: string, text: string): Promise<string[]> {
  const names: string[] = [];
  for (const name of text.split("/"))
    names.push(await localName(path.join(directory, ...names), name));
  return names;
}

/** The place of a path of a context on this machine, whether or not there is a file. */
export const localPath = async (directory: string, text: string): Promise<string> =>
  path.join(directory, ...(await localNames(directory, text)));

async function localName(folder: string, name: string): Promise<string> {
  if (name.normalize("NFD") === name) return name;
  if ((await lstat(path.join(folder, name)).catch(() => null)) !== null) return name;
  const listed = await readdir(folder).catch(() => []);
  return listed.find((other) => other.normalize("NFC") === name) ?? name;
}
