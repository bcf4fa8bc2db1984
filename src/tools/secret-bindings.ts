import type { SecretBinding } from "../protocol/api/secrets";

/**
 * Where secrets may be sent. A binding names an origin, and optionally paths and methods; every request that carries a secret is
 * held against its bindings before it leaves. Pure.
 */

/** A request that would carry a secret. `method: null` asks only whether anything of the URL's origin may get it. */
export type SecretUse = { url: string; method: string | null };

/** Gives the text of a secret that may be sent there; undefined if there is none. */
export type SecretOf = (
  name: string,
  use: SecretUse,
) => string | undefined | Promise<string | undefined>;

/** Whether a request may carry the secret of these bindings. */
export function maySend(bindings: readonly SecretBinding[], { url, method }: SecretUse): boolean {
  const { origin, pathname } = new URL(url);
  return bindings.some(
    (binding) =>
      binding.origin === origin &&
      (method === null ||
        (allowsMethod(binding, method) &&
          (binding.paths?.some((path) => isBelow(path, pathname)) ?? true))),
  );
}

/**
 * The same of an address whose end is still open: whether some address that begins with this one may get the secret. For configs,
 * where arguments fill the rest of a path.
 */
export function maySendBelow(
  bindings: readonly SecretBinding[],
  { url, method }: SecretUse & { method: string },
): boolean {
  const { origin, pathname } = new URL(url);
  return bindings.some(
    (binding) =>
      binding.origin === origin &&
      allowsMethod(binding, method) &&
      (binding.paths?.some((path) => isBelow(path, pathname) || path.startsWith(pathname)) ?? true),
  );
}

const allowsMethod = ({ methods }: SecretBinding, method: string): boolean =>
  methods?.some((one) => one === method.toUpperCase()) ?? true;

/** A server may decode a path more than once before it looks at it. */
const MOST_DECODINGS = 3;

/**
 * Whether a path lies at or below another, segment by segment: as it is written, and as a server may read it that decodes escapes,
 * takes a backslash for a slash or drops what follows a semicolon. A path that one of these readings leads out of is below nothing.
 */
function isBelow(base: string, pathname: string): boolean {
  const [wanted, decoded] = [segmentsOf(base), segmentsOf(readingsOf(base).at(-1) ?? base)];
  return readingsOf(pathname).every((reading) => {
    const segments = segmentsOf(reading);
    return (
      !segments.includes("..") &&
      wanted.every((one, nth) => [one, decoded[nth]].includes(segments[nth]))
    );
  });
}

/** A slash at the end, or a doubled one, is no segment. */
const segmentsOf = (path: string): string[] =>
  path
    .split(/[/\\]/)
    .map((segment) => segment.split(";", 1)[0] ?? "")
    .filter((segment) => segment !== "" && segment !== ".");

function readingsOf(pathname: string): string[] {
  const readings = [pathname];
  for (let nth = 0; nth < MOST_DECODINGS; nth += 1) {
    const last = readings.at(-1) ?? "";
    const decoded = last.replace(/(?:%[0-9a-f]{2})+/gi, decodeEscapes);
    if (decoded === last) return readings;
    readings.push(decoded);
  }
  // What still holds escapes is read by nobody as it is meant.
  return /%[0-9a-f]{2}/i.test(readings.at(-1) ?? "") ? [...readings, "/.."] : readings;
}

/** Bytes that are no UTF-8 are read as a way out: a lax server may make a dot or a slash of them. */
function decodeEscapes(escapes: string): string {
  try {
    return decodeURIComponent(escapes);
  } catch {
    return "/../";
  }
}

/** The bindings for people, such as `POST https://api.example.com/v1`. */
export const describeBindings = (bindings: readonly SecretBinding[]): string =>
  bindings
    .flatMap(({ origin, paths, methods }) =>
      (paths ?? [""]).map((path) => `${methods ? `${methods.join("+")} ` : ""}${origin}${path}`),
    )
    .join(", ");
