import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { type Client, signIn } from '../../harness/client.ts';
import type { Service } from '../../harness/service.ts';

const OTHER = { email: 'other@firsthand.test', password: 'correct-horse-battery' };
const CLI = join(import.meta.dirname, '../../../packages/cli/src/firsthand.js');

/** Creates a second organisation in the running service. */
export async function signInToOther(service: Service): Promise<Client> {
  const args = ['org', 'create', '--name', 'Loud', '--owner-email', OTHER.email, '--owner-password', OTHER.password];
  execFileSync(process.execPath, [CLI, ...args], { env: { ...process.env, ...service.env } });
  return signIn(service, OTHER);
}
