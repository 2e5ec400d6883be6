import { expect } from 'chai';
import { type Address, networkOf, parseAddress, TrustedProxies } from '#src/adapters/inbound/http/server/ip-address.js';
import { list } from '../../../../../support/list.js';

describe('TrustedProxies', () => {
  const addressOf = (text: string) => parseAddress(text) as Address;
  const trusts = (proxies: string, address: string) => new TrustedProxies(proxies).includes(addressOf(address));
  const clientOf = (forwardedFor: string) =>
    networkOf(new TrustedProxies('10.0.0.0/8, fd00::/8').clientOf(addressOf('10.0.0.1'), forwardedFor));

  it('accepts IPv4 and IPv6 addresses and networks', () => {
    const proxies = ' 192.0.2.1,10.0.0.0/8, 2001:db8::1 ,fd00::/8';
    for (const address of ['192.0.2.1', '10.255.0.1', '2001:db8::1', 'fd12::1', '::ffff:10.1.1.1'])
      expect(trusts(proxies, address), address).to.equal(true);
    for (const address of ['192.0.2.2', '11.0.0.1', '2001:db8::2', 'fe80::1', '::ffff:11.0.0.1', '::1'])
      expect(trusts(proxies, address), address).to.equal(false);
  });

  it('accepts IPv4 addresses mapped into IPv6', () => {
    expect(trusts('::ffff:192.0.2.1', '192.0.2.1')).to.equal(true);
    expect(trusts('::ffff:10.0.0.0/104', '10.9.9.9')).to.equal(true);
    expect(trusts('::ffff:10.0.0.0/104', '11.9.9.9')).to.equal(false);
  });

  it('keeps the two address families apart', () => {
    expect(trusts('::/0', '192.0.2.1')).to.equal(false);
    expect(trusts('0.0.0.0/0', '2001:db8::1')).to.equal(false);
  });

  const FORWARDED = {
    '192.0.2.7': [
      ...['192.0.2.7', '198.51.100.1, 192.0.2.7', '192.0.2.7, 10.0.0.9', '192.0.2.7,10.0.0.9,fd00::2 ,  10.0.0.3'],
      ...['1.1.1.1, 192.0.2.7, 10.0.0.9', '192.0.2.7:50123', '::ffff:192.0.2.7', '::ffff:192.0.2.7, ::ffff:10.0.0.9'],
    ],
    '2001:db8:1:2::/64': ['2001:db8:1:2:3::4', '[2001:db8:1:2:3::4]', '[2001:db8:1:2:3::4]:443'],
  };
  for (const [client, fields] of Object.entries(FORWARDED))
    for (const field of fields)
      it(`finds the client in "${field}"`, () => {
        expect(clientOf(field)).to.equal(client);
      });

  it('takes the first proxy as the client if all addresses are proxies', () => {
    expect(clientOf('')).to.equal('10.0.0.1');
    expect(clientOf('10.0.0.8, 10.0.0.9')).to.equal('10.0.0.8');
  });

  it('stops at an entry that is not an IP address', () => {
    const wrong = list`unknown  _hidden  "192.0.2.9"  for=192.0.2.9  010.0.0.1  192.0.2.9:x  [192.0.2.9]x  2001:db8::1%eth0`;
    for (const entry of [...wrong, '0x7f000001', '']) {
      expect(clientOf(`192.0.2.7, ${entry}`), entry).to.equal('10.0.0.1');
      expect(clientOf(`192.0.2.7, ${entry}, 10.0.0.9`), entry).to.equal('10.0.0.9');
    }
  });
});
