/**
 * Ports of the tool servers that runs use. A service must know the origin of each tool server at
 * its start, but each case starts its own servers later. So these servers use a fixed range of
 * ports, below the ports that the system uses for outgoing connections.
 */
const FIRST = 29_600;
const COUNT = 300;
const PORTS = Array.from({ length: COUNT }, (_, nth) => FIRST + nth);

/** Tool servers of a run. */
export const SERVERS_PER_RUN = 3;
/** Half of the ports: other campaigns may run beside this one. */
export const MOST_RUNS_AT_ONCE = COUNT / SERVERS_PER_RUN / 2;

/** Value of `ALLOWED_TOOL_ORIGINS`. */
export const TOOL_ORIGINS: readonly string[] = PORTS.map((port) => `http://127.0.0.1:${port}`);

let next = 0;

/**
 * The ports to try, in order. Each call begins with the next port, so that a port is not used again
 * soon.
 */
export function toolPorts(): number[] {
  const from = next++ % COUNT;
  return [...PORTS.slice(from), ...PORTS.slice(0, from)];
}
