/** Walks the provider's own forms, as a person with a browser would; returns the address below `callback` that it ends at. */
export async function signInAtProvider(address: string, login: string, callback: string): Promise<string> {
  const jar = new Map<string, string>();
  let url = address;
  let form: URLSearchParams | undefined;
  for (let hops = 0; hops < 20; hops++) {
    const reply = await fetch(url, {
      method: form ? 'POST' : 'GET',
      ...(form && { body: form }),
      redirect: 'manual',
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
    });
    form = undefined;
    for (const text of reply.headers.getSetCookie()) {
      const [pair = ''] = text.split(';');
      jar.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
    }
    const location = reply.headers.get('location');
    if (location !== null) {
      url = new URL(location, url).href;
      if (url.startsWith(callback)) return url;
      continue;
    }
    const page = await reply.text();
    const action = /action="([^"]+)"/.exec(page)?.[1];
    const prompt = /name="prompt" value="([^"]+)"/.exec(page)?.[1];
    if (action === undefined || prompt === undefined) throw new Error(`no form at ${url}: ${reply.status} ${page.slice(0, 500)}`);
    url = new URL(action, url).href;
    form = new URLSearchParams(prompt === 'login' ? { prompt, login, password: 'any' } : { prompt });
  }
  throw new Error('the provider never returned');
}
