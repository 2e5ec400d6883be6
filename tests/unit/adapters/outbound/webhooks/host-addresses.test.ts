import { expect } from 'chai';
import { hostAddresses, type NameSources } from '#src/adapters/outbound/webhooks/host-addresses.js';

const HOSTS = `127.0.0.1 localhost # also: other
10.1.1.1\tShop.internal shop
::1 localhost
10.1.1.1 shop
zone nobody
`;

describe('the addresses of a host', () => {
  /** DNS that knows these names, and the names that it was asked for. */
  const dns = (known: Record<string, readonly string[]>, configuration = '') => {
    const asked: string[] = [];
    const sources: NameSources = {
      hosts: async () => HOSTS,
      configuration: async () => configuration,
      ask: async (name, family) => {
        if (family === 4) asked.push(name);
        const found = (known[name] ?? []).filter((address) => address.includes(':') === (family === 6));
        if (found.length === 0) throw new Error('ENOTFOUND');
        return found;
      },
    };
    const find = async (host: string) => {
      const found = await hostAddresses(host, new AbortController().signal, sources);
      return found.map(({ address, family }) => `${family} ${address}`);
    };
    return { asked, find, sources };
  };

  it('are those in the hosts file, for which DNS is not asked', async () => {
    const { find, asked } = dns({ localhost: ['8.8.8.8'], shop: ['8.8.8.8'] });
    expect(await find('localhost')).to.deep.equal(['4 127.0.0.1', '6 ::1']);
    expect(await find('shop')).to.deep.equal(['4 10.1.1.1']);
    expect(await find('shop.internal.')).to.deep.equal(['4 10.1.1.1']);
    expect(asked).to.deep.equal([]);
    for (const name of ['other', 'nobody', '10.1.1.1']) expect(await find(name), name).to.deep.equal([]);
  });

  it('are those of DNS, IPv4 first', async () => {
    const { find } = dns({ 'a.example': ['2001:db8::1', '8.8.8.8', '8.8.4.4'] });
    expect(await find('a.example')).to.deep.equal(['4 8.8.8.8', '4 8.8.4.4', '6 2001:db8::1']);
    expect(await find('b.example')).to.deep.equal([]);
  });

  for (const [host, configuration, names] of [
    ['a', '', ['a']],
    ['a', 'search one.example two.example\n', ['a.one.example', 'a.two.example', 'a']],
    ['a.b', 'search one.example', ['a.b', 'a.b.one.example']],
    ['a.b', 'search x\ndomain one.example\noptions edns0 ndots:2\n', ['a.b.one.example', 'a.b']],
    ['a.b.', 'search one.example\noptions ndots:5', ['a.b']],
    ['a.b.c', 'search .\noptions ndots:2 ndots:x', ['a.b.c']],
  ] as const)
    it(`are looked up as the system says: ${host} with ${JSON.stringify(configuration)}`, async () => {
      const { find, asked } = dns({}, configuration);
      expect(await find(host)).to.deep.equal([]);
      expect(asked).to.deep.equal(names);
      const last = dns({ [names.at(-1) ?? '']: ['8.8.8.8'] }, configuration);
      expect(await last.find(host)).to.deep.equal(['4 8.8.8.8']);
    });

  it('are not those of a hosts file that cannot be read', async () => {
    const { sources } = dns({ a: ['8.8.8.8'] });
    const hosts = () => Promise.reject(Object.assign(new Error('too many open files'), { code: 'EMFILE' }));
    const { signal } = new AbortController();
    const { code } = await hostAddresses('a', signal, { ...sources, hosts }).catch((error) => error);
    expect(code).to.equal('EMFILE');
  });

  it('are unknown if no server of DNS takes questions, which is no fault of the name', async () => {
    const { sources } = dns({});
    const ask = () => Promise.reject(Object.assign(new Error('no server'), { code: 'ECONNREFUSED' }));
    const { signal } = new AbortController();
    const { code } = await hostAddresses('a', signal, { ...sources, ask }).catch((error) => error);
    expect(code).to.equal('ECONNREFUSED');
  });

  it('are found by the files and servers of this system, without a thread', async () => {
    const { signal } = new AbortController();
    const names = (await hostAddresses('localhost', signal)).map(({ address }) => address);
    expect(names).to.include('127.0.0.1');
    expect(await hostAddresses('nobody.invalid', AbortSignal.abort())).to.deep.equal([]);
  });
});
