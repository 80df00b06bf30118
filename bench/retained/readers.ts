/** Readers of the management API, in a process of their own: the load generator beside them must not wait for their responses. */
import { read } from './read.ts';

export interface ReadersPlan {
  url: string;
  token: string;
  paths: string[];
  readers: number;
}

let stopped = false;
process.once('message', async ({ url, token, paths, readers }: ReadersPlan) => {
  let requests = 0;
  process.once('message', () => {
    stopped = true;
  });
  const all = Array.from({ length: readers }, async (_, reader) => {
    for (let n = reader; !stopped; n++, requests++) await read(url, token, paths[n % paths.length] ?? '/events');
  });
  await Promise.all(all);
  process.send?.({ requests });
  process.disconnect();
});
