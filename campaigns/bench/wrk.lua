-- Sends one kind of request, to the paths of a file in turn or at random, and counts every status but the expected one.
-- wrk ... -s wrk.lua URL -- METHOD STATUS FILE ORDER BODY FIRST DELAY_MS
-- ORDER is `random` or `turns`. In BODY, each {n} becomes a number that counts up from FIRST.
local method, status, paths, order, body, number, delay_ms
local thread

wrong, first_wrong = 0, ''

function setup(started)
  thread = started
end

function init(args)
  method, status, order, body = args[1], tonumber(args[2]), args[4], args[5]
  number, delay_ms = tonumber(args[6]), tonumber(args[7])
  paths = {}
  for path in io.lines(args[3]) do
    paths[#paths + 1] = body == '' and wrk.format(method, path) or path
  end
  math.randomseed(number)
end

local turn = 0

function request()
  turn = turn + 1
  local path = paths[order == 'random' and math.random(#paths) or (turn - 1) % #paths + 1]
  if body == '' then return path end
  number = number + 1
  return wrk.format(method, path, nil, (body:gsub('{n}', string.format('%d', number))))
end

function response(received, _, text)
  if received ~= status then
    wrong = wrong + 1
    if first_wrong == '' then first_wrong = received .. ' ' .. text:sub(1, 300):gsub('[^ -~]', ' ') end
  end
end

function delay()
  return delay_ms
end

function done(summary, latency)
  local errors = summary.errors
  io.write('\nresult\n')
  for name, value in pairs({
    requests = summary.requests,
    duration_us = summary.duration,
    p50_us = latency:percentile(50),
    p99_us = latency:percentile(99),
    broken = errors.connect + errors.read + errors.write + errors.timeout,
    wrong = thread:get('wrong'),
    first_wrong = thread:get('first_wrong'),
  }) do
    io.write(name, '=', tostring(value), '\n')
  end
end
