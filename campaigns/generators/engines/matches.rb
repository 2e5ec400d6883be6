# Like matches.py.
$stdin.each_line do |line|
  pattern, *texts = line.chomp.split(/ /, -1).map { |word| word.unpack1('m').force_encoding('UTF-8') }
  puts texts.map { |text| Regexp.new(pattern).match?(text) ? '1' : '0' }.join
end
