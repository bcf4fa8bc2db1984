import path from "node:path";
import type { Io } from "./io";

/** Where this program looks for files of its user. */

/** The team of a project. */
export const projectConfig = ({ cwd }: Pick<Io, "cwd">): string =>
  path.join(cwd, ".massgen", "config.yaml");

/** The team of a user, where MassGen keeps it. */
export const userConfig = ({ home }: Pick<Io, "home">): string =>
  path.join(home, ".config", "massgen", "config.yaml");

/** The service and the key that `login` stored. */
export const credentialsFile = ({ home }: Pick<Io, "home">): string =>
  path.join(home, ".config", "massgen-edge", "credentials.json");

/** Which configs of folders their user has allowed. */
export const consentsFile = ({ home }: Pick<Io, "home">): string =>
  path.join(home, ".config", "massgen-edge", "allowed-configs.json");

/** A path as people write it: from the folder they are in, or from their own. */
export function shownPath(file: string, { cwd, home }: Pick<Io, "cwd" | "home">): string {
  const relative = path.relative(cwd, file);
  if (relative !== "" && !relative.startsWith("..") && !path.isAbsolute(relative)) return relative;
  return file.startsWith(home + path.sep) ? `~${file.slice(home.length)}` : file;
}
