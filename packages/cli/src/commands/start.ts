import { readOptions } from '../options.ts';

export async function start(args: string[]): Promise<void> {
  readOptions(args, { required: [] });
  const { main } = await import('@firsthand/server/main.ts');
  await main();
}
