import { expect } from 'chai';
import { AllowedAddresses } from '#src/adapters/outbound/webhooks/allowed-addresses.js';
import { list } from '../../../../support/list.js';

/** Each with the first and the last address of a block of IANA's registries, or addresses around it. */
const REFUSED = [
  '0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.0 127.0.0.1 127.255.255.255',
  '169.254.0.0 169.254.169.254 169.254.255.255 172.16.0.0 172.31.255.255 192.0.0.0 192.0.0.8 192.0.0.170',
  '192.0.0.171 192.0.0.255 192.0.2.0 192.0.2.255 192.88.99.0 192.88.99.2 192.168.0.0 192.168.255.255 198.18.0.0',
  '198.19.255.255 198.51.100.0 198.51.100.255 203.0.113.0 203.0.113.255 224.0.0.0 239.255.255.255 240.0.0.0',
  '255.255.255.254 255.255.255.255',
  ':: ::1 ::2 64:ff9b:1:: 64:ff9b:1:ffff:ffff:ffff:ffff:ffff 100:: 100::ffff:ffff:ffff:ffff 100:0:0:1::',
  '2001:1:: 2001:1::4 2001:2:: 2001:2:0:ffff:ffff:ffff:ffff:ffff 2001:4:111:: 2001:10:: 2001:1f:ffff::',
  '2001:40:: 2001:1ff:ffff:: 2001:db8:: 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff 3fff:: 3fff:fff:ffff::',
  '4000:: 5f00:: 1fff:ffff:: 8000:: fc00:: fd00::1 fdff:ffff:: fe80:: fe80::1 febf:ffff:: fec0:: ff00:: ff02::1',
  // IPv4 inside IPv6: mapped, compatible, NAT64, 6to4, Teredo (the server, then the client).
  '::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:a9fe:a9fe ::127.0.0.1 ::10.0.0.1 64:ff9b::10.0.0.1 64:ff9b::7f00:1',
  '2002:7f00:1:: 2002:a00:1::1 2002:c0a8:101:: 2001:0:a00:1::f7f7:f7f7 2001:0:808:808::f5ff:fffe',
  // Translated by SIIT, and what is no address.
  '::ffff:0:8.8.8.8 fe80::1%eth0 localhost 8.8.8.8.8 0x7f.1',
]
  .join(' ')
  .split(' ');

const ALLOWED = [
  '1.0.0.0 1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0',
  '169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.0.9 192.0.0.10 192.0.1.0 192.0.3.0',
  '192.31.196.1 192.52.193.1 192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0 192.175.48.1 198.17.255.255',
  '198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255',
  '2000:: 2001:1::1 2001:1::2 2001:1::3 2001:3::1 2001:4:112::1 2001:20::1 2001:30::1 2001:200:: 2001:db7:: 2001:db9::',
  '2606:4700::1111 2620:4f:8000::1 3ffe:: 3fff:1000::',
  '::ffff:8.8.8.8 ::8.8.8.8 64:ff9b::8.8.8.8 2002:808:808:: 2001:0:808:808::f7f7:f7f7',
]
  .join(' ')
  .split(' ');

describe('the addresses that webhooks may reach', () => {
  const none = new AllowedAddresses('');

  it('are global unicast by the registries of IANA; an IPv4 address inside IPv6 counts as itself', () => {
    expect(REFUSED.filter((address) => none.includes(address))).to.deep.equal([]);
    expect(ALLOWED.filter((address) => !none.includes(address))).to.deep.equal([]);
  });

  it('are those of the networks too', () => {
    const some = new AllowedAddresses('127.0.0.0/8, 10.1.2.3,fd00::/8,::1');
    for (const address of list`127.0.0.1  127.9.9.9  10.1.2.3  fd12::1  ::1  8.8.8.8  ::ffff:127.0.0.1  64:ff9b::10.1.2.3`)
      expect(some.includes(address), address).to.equal(true);
    for (const address of ['10.1.2.4', '192.168.0.1', 'fc00::1', '::2', '2002:a01:204::'])
      expect(some.includes(address), address).to.equal(false);
  });
});
