export async function read(url: string, token: string, path: string): Promise<void> {
  const answer = await fetch(`${url}/v1/admin${path}`, { headers: { authorization: `Bearer ${token}` } });
  await answer.arrayBuffer();
  if (answer.status !== 200 && answer.status !== 404) throw new Error(`GET ${path}: ${answer.status}`);
}
