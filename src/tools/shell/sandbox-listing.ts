/** Everything below an agent's places in a sandbox, by the path the agent knows. `others`: what is neither file nor directory. */
export type Listing = {
  files: ReadonlyMap<string, FileThere>;
  directories: ReadonlySet<string>;
  others: readonly string[];
};

type FileThere = { hash: string; size: number; executable: boolean };

const OWNER_MAY_RUN = 0o100;

/** Commands that list what lies below these places, for `toListing`; quoted already. */
export const listingCommands = (places: string): { entries: string; hashes: string } => ({
  entries: `find ${places} -printf '%y %m %s %p\\0'`,
  hashes: `find ${places} -type f -print0 | xargs -0 -r sha256sum -z --`,
});

/** What the commands printed, where the places lie below `root`. */
export function toListing(printed: { entries: string; hashes: string }, root: string): Listing {
  const known = (path: string): string => path.slice(root.length);
  // "{64 hex digits}  {path}"
  const hashes = new Map(
    partsOf(printed.hashes).map((line) => [line.slice(66), line.slice(0, 64)]),
  );
  const files = new Map<string, FileThere>();
  const directories = new Set<string>();
  const others: string[] = [];
  for (const line of partsOf(printed.entries)) {
    const [, kind, mode = "", size, path = ""] = /^(.) (\d+) (\d+) (.*)$/s.exec(line) ?? [];
    const hash = hashes.get(path);
    if (kind === "d") directories.add(known(path));
    else if (kind !== "f") others.push(known(path));
    else if (hash !== undefined)
      files.set(known(path), {
        hash,
        size: Number(size),
        executable: (Number.parseInt(mode, 8) & OWNER_MAY_RUN) !== 0,
      });
  }
  return { files, directories, others };
}

const partsOf = (text: string): string[] => text.split("\0").filter((part) => part !== "");
