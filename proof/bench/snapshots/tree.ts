/** A tree like a project's: so many distinct files of so many bytes. */
export const TREE = { files: 2_000, fileBytes: 1_000 } as const;
