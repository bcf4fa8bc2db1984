/**
 * Ports of the tool servers that runs use. A service must know the origin of each tool server at
 * its start, and each case has its own servers. So they share a known range below the ports of
 * outgoing connections.
 */
const FIRST = 29_900;
const COUNT = 90;
const PORTS = Array.from({ length: COUNT }, (_, nth) => FIRST + nth);

/** Value of `ALLOWED_TOOL_ORIGINS`. */
export const TOOL_ORIGINS: readonly string[] = PORTS.map((port) => `http://127.0.0.1:${port}`);

let next = 0;

/**
 * The ports to try, in order. Each call starts behind the last one, so that a port rests before it
 * is used again.
 */
export function toolPorts(): number[] {
  const from = next++ % COUNT;
  return [...PORTS.slice(from), ...PORTS.slice(0, from)];
}
