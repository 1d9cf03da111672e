% The published definitions of four manipulations, applied to the same motion as mimegen's files.
% Each file is BioMotion Toolbox's data3d text: a column per dot, rows x, y, z of each frame.
% Prints one line per manipulation: its name and the largest deviation, in millimetres.
function pointlight_definitions(folder, life)
  plain = dots(folder, "plain");
  report("inversion", max_off(flip_up(plain), dots(folder, "inverted")));
  scrambled = dots(folder, "scrambled");
  report("spatial", max_off(scramble(plain, scrambled(:, :, 1)), scrambled));
  report("outside", outside(plain, scrambled(:, :, 1)));
  report("phase", phase(plain, dots(folder, "phase")));
  limbs = load(fullfile(folder, "limbs.txt"));
  [off, spans] = lifetime(plain, dots(folder, "lifetime"), limbs, life);
  report("lifetime", off);
  report("lifespans", spans);
end

function report(name, value)
  printf("%s %.6f\n", name, value);
end

% Returns places as 3 x dots x frames.
function places = dots(folder, name)
  table = load(fullfile(folder, [name ".txt"]));
  places = permute(reshape(table', columns(table), 3, []), [2 1 3]);
end

function off = max_off(first, second)
  off = max(abs(first(1:2, :, :) - second(1:2, :, :))(:));
end

% Inversion (Sumi 1984): the picture turned upside down about its middle line.
function places = flip_up(places)
  places(2, :, :) = -places(2, :, :);
end

% Spatial scramble (Grossman et al. 2000; van Boxtel & Lu 2013): every dot keeps its motion,
% reckoned from its place in the first frame, and begins at a place of its own.
function places = scramble(places, starts)
  starts(3, :) = places(3, :, 1);
  places = places - places(:, :, 1) + starts;
end

% How far the starts are outside the box of the whole motion.
function off = outside(places, starts)
  low = min(min(places, [], 3), [], 2);
  high = max(max(places, [], 3), [], 2);
  off = max(0, max(max([low(1:2) - starts(1:2, :); starts(1:2, :) - high(1:2)])));
end

% Phase scramble (van Boxtel & Lu 2013): each dot's anchored motion, shifted circularly by a whole
% number of frames of its own. Returns the worst dot's deviation for its best shift.
function off = phase(places, shifted)
  off = 0;
  for dot = 1:columns(places)
    best = inf;
    for shift = 1:size(places, 3)
      best = min(best, max_off(circshift(places(:, dot, :), shift, 3), shifted(:, dot, :)));
    end
    off = max(off, best);
  end
end

% Limited lifetime (Beintema & Lappe 2002): a dot sits at one point of one limb for its life, then
% at another point. Returns how far dots are off such points, and by how much lives are wrong.
function [off, spans] = lifetime(places, samples, limbs, life)
  off = 0; spans = 0;
  frames = size(places, 3);
  for dot = 1:columns(samples)
    born = 1;
    for frame = 2:frames + 1
      held = frame <= frames;
      if held
        held = on_limb(places, samples(:, dot, :), limbs, born, frame) < 0.01;
      end
      if ! held
        off = max(off, on_limb(places, samples(:, dot, :), limbs, born, frame - 1));
        span = frame - born;
        if span > life || (span < life && born > 1 && frame <= frames)
          spans = max(spans, abs(span - life));
        end
        born = frame;
      end
    end
  end
end

% Returns how far a sample is from the best fixed point of any limb, over a span of frames.
function off = on_limb(places, sample, limbs, first, last)
  off = inf;
  for limb = 1:rows(limbs)
    a = places(1:2, limbs(limb, 1), first:last);
    along = places(1:2, limbs(limb, 2), first:last) - a;
    from = sample(1:2, :, first:last) - a;
    share = sum(along(:) .* from(:)) / sum(along(:) .^ 2);
    if share > -1e-3 && share < 1 + 1e-3
      off = min(off, max(abs(from(:) - share * along(:))));
    end
  end
end
