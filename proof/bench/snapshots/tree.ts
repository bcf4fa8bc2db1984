/** A file tree of the size of a project: `files` different files of `fileBytes` bytes. */
export const TREE = { files: 2_000, fileBytes: 1_000 } as const;
