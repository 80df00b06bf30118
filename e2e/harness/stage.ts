import { afterAll } from 'vitest';
import { type Client, signIn } from './client.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { type Service, startService } from './service.ts';

/** What most stories need: the service, its signed-in owner and a receiver. Removed after the file's last test. */
export async function stage(env: Record<string, string> = {}): Promise<{ service: Service; client: Client; receiver: Receiver }> {
  const service = await startService(env);
  afterAll(() => service.stop());
  const receiver = await startReceiver();
  afterAll(() => receiver.close());
  return { service, client: await signIn(service), receiver };
}
